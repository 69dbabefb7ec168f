package padron_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/padron"
)

// someRows returns rows of words that are often the same.
func someRows(n int) []padron.RowForTest {
	random := rand.New(rand.NewPCG(5, 5))
	words := []string{"ANA", "GLORIA", "VANAGLORIA", "S.A.", "ÑANDÚ", "DEL", "SUR", "QUISPE", "MAMANI"}
	rows := make([]padron.RowForTest, n)
	for i := range rows {
		name := words[random.IntN(len(words))]
		for range random.IntN(5) {
			name += " " + words[random.IntN(len(words))]
		}
		rows[i] = padron.RowForTest{RUC: fmt.Sprintf("20%09d", i), Nombre: name, Estado: []string{"ACTIVO", "BAJA DE OFICIO"}[i%2], Condicion: "HABIDO", Ubigeo: "150101", Calle: "AV. UNO"}
	}
	return rows
}

// fileOf returns an index of rows, as a file's content.
func fileOf(t testing.TB, rows []padron.RowForTest) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "padron.index")
	_, err := padron.ImportRows(t.Context(), name, padron.Info{SHA256: padron.SHA256, Fecha: fiscope.NewFecha(2026, 7, 20)}, rows)
	require.NoError(t, err)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}

// TestOpenRefuses what is no index, not whole, or not as it was written.
func TestOpenRefuses(t *testing.T) {
	whole := fileOf(t, someRows(100))
	header := padron.HeaderSize()
	changed := func(at int, by byte) []byte {
		file := bytes.Clone(whole)
		file[at] ^= by
		return file
	}
	files := map[string]struct {
		file []byte
		want string
	}{
		"empty":             {nil, "empty"},
		"a zip":             {[]byte("PK\x03\x04 and more"), "not an index"},
		"another version":   {changed(len("fiscope padron\r\n"), 0x40), "version"},
		"longer":            {append(bytes.Clone(whole), 0), "header says"},
		"cut at its end":    {whole[:len(whole)-1], "header says"},
		"cut in the middle": {whole[:len(whole)/2], "header says"},
		"cut after header":  {whole[:header], "header says"},
		"cut in the header": {whole[:header-1], "cut"},
		"only its magic":    {whole[:16], "cut"},
		"part of its magic": {whole[:15], "not an index"},
		"zeros":             {make([]byte, len(whole)), "not an index"},
		"its texts changed": {changed(len(whole)-1, 1), "damaged"},
	}
	for at := range header {
		name := fmt.Sprintf("bit of byte %d", at)
		entry := files[name]
		entry.file = changed(at, 1<<(at%8))
		files[name] = entry
	}
	for name, c := range files {
		t.Run(name, func(t *testing.T) {
			index := filepath.Join(t.TempDir(), "padron.index")
			require.NoError(t, os.WriteFile(index, c.file, 0o600))
			_, err := padron.Open(index)
			require.ErrorContains(t, err, index)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := padron.Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, 1, strings.Count(err.Error(), "none"), "%v", err)
	_, err = padron.Open(t.TempDir())
	require.Error(t, err)
}

// use calls all that reads an index. What it finds may be wrong, or an error.
func use(x *padron.Index) {
	for _, text := range []string{"a", "ana", "nagloria", "a s", "gloria del", "loria del", "s.a.", "ria q", "zz", "a \u0301", string(bytes.Repeat([]byte("a"), 300))} {
		for _, limit := range []int{1, 10, 1000} {
			_, _ = x.Buscar(context.Background(), text, limit)
		}
	}
	for i := range 40 {
		_, _, _ = x.Contribuyente(context.Background(), fmt.Sprintf("20%09d", i))
	}
}

// TestADamagedFileEndsNoProcess changes bytes of what no checksum covers.
func TestADamagedFileEndsNoProcess(t *testing.T) {
	whole := fileOf(t, someRows(60))
	random := rand.New(rand.NewPCG(1, 2))
	index := filepath.Join(t.TempDir(), "padron.index")
	for i := range 400 {
		file := bytes.Clone(whole)
		from := padron.HeaderSize() + random.IntN(len(file)-padron.HeaderSize())
		for at := from; at < min(len(file), from+1+random.IntN(1+i)); at++ {
			file[at] = []byte{0, 0xff, byte(random.Uint32())}[i%3]
		}
		for _, way := range [][2]int{{100, 2000}, {0, 1}, {1, 0}} {
			undo := padron.SetCosts(way[0], way[1])
			require.NoError(t, os.WriteFile(index, file, 0o600))
			if x, err := padron.Open(index); err == nil {
				use(x)
				require.NoError(t, x.Close())
			}
			undo()
		}
	}
}

// TestAFileThatIsWrittenOverEndsNoProcess opens an index and then does to its file what no one should.
func TestAFileThatIsWrittenOverEndsNoProcess(t *testing.T) {
	whole := fileOf(t, someRows(5000))
	another := fileOf(t, someRows(4000))
	for name, c := range map[string]struct {
		do   func(file *os.File) error
		want string
	}{
		"emptied":            {func(f *os.File) error { return f.Truncate(0) }, "damaged"},
		"cut":                {func(f *os.File) error { return f.Truncate(8192) }, "damaged"},
		"zeros":              {func(f *os.File) error { _, err := f.WriteAt(make([]byte, len(whole)), 0); return err }, "wrote over"},
		"another index":      {func(f *os.File) error { _, err := f.WriteAt(another, 0); return err }, "wrote over"},
		"another, and cut":   {func(f *os.File) error { return os.WriteFile(f.Name(), another, 0o600) }, ""},
		"another's, and all": {func(f *os.File) error { return os.WriteFile(f.Name(), append(bytes.Clone(another), whole...), 0o600) }, "wrote over"},
	} {
		t.Run(name, func(t *testing.T) {
			index := filepath.Join(t.TempDir(), "padron.index")
			require.NoError(t, os.WriteFile(index, whole, 0o600))
			x, err := padron.Open(index)
			require.NoError(t, err)
			defer x.Close()
			file, err := os.OpenFile(index, os.O_RDWR, 0)
			require.NoError(t, err)
			defer file.Close()
			require.NoError(t, c.do(file))
			use(x)
			_, err = x.Buscar(t.Context(), "loria del", 10)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, index)
			_, _, err = x.Contribuyente(t.Context(), "20000000001")
			require.ErrorContains(t, err, c.want)
			require.NotErrorIs(t, err, fiscope.ErrNotFound)
		})
	}
}

// TestCloseIsSafe beside calls under way.
func TestCloseIsSafe(t *testing.T) {
	index := filepath.Join(t.TempDir(), "padron.index")
	require.NoError(t, os.WriteFile(index, fileOf(t, someRows(2000)), 0o600))
	x, err := padron.Open(index)
	require.NoError(t, err)
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for {
				if _, err := x.Buscar(context.Background(), "loria del", 50); err != nil {
					assert.ErrorIs(t, err, os.ErrClosed)
					return
				}
			}
		})
	}
	use(x)
	require.NoError(t, x.Close())
	require.NoError(t, x.Close())
	calls.Wait()
	_, _, err = x.Contribuyente(t.Context(), "20000000001")
	require.ErrorIs(t, err, os.ErrClosed)
	require.NotErrorIs(t, err, fiscope.ErrNotFound)
	assert.Equal(t, 2000, x.Info().Contribuyentes)
}
