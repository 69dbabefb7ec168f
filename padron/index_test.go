package padron_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/padrongen"
	"github.com/fiscope/fiscope/padron"
)

// unreal are rows with what a file should not have.
var unreal = []padron.RowForTest{
	{RUC: "00000000000", Nombre: "cero", Estado: "ACTIVO"},
	{RUC: "99999999999", Nombre: "NUEVE", Estado: "ACTIVO", Condicion: "HABIDO", Ubigeo: "150101", Calle: "AV. UNO NRO. 1"},
	{RUC: "20000000001"},
	{RUC: "20000000002", Nombre: "ñandú s.a.", Estado: "BAJA DEFINITIVA", Condicion: "-", Ubigeo: "999999", Calle: "CAL.UNO"},
	{RUC: "20000000003", Nombre: "GLORIA  DOS BLANCOS", Ubigeo: "no code", Calle: " "},
	{RUC: "20000000004", Nombre: "\x00\x01\x7f|\r\t", Estado: "\x00", Condicion: strings.Repeat("C", 3000), Ubigeo: "0"},
	{RUC: "20000000005", Nombre: strings.Repeat("LARGO ", 20_000), Calle: strings.Repeat("Ñ", 70_000), Estado: "ACTIVO"},
	{RUC: "20000000006", Nombre: "\u0301", Estado: "ACTIVO"},
	{RUC: "20000000007", Nombre: "İSTANBUL ẞ", Estado: "activo"},
	{RUC: "20000000008", Nombre: "EN MINÚSCULAS no", Estado: "ACTIVO "},
	{RUC: "20000000009", Nombre: "PRIMERA", Estado: "ACTIVO"},
	{RUC: "20000000009", Nombre: "SEGUNDA", Estado: "BAJA DE OFICIO"},
	{RUC: "20000000009", Nombre: "TERCERA, LA QUE VALE", Estado: "ACTIVO"},
}

// TestContribuyente looks up all rows, as they were given.
func TestContribuyente(t *testing.T) {
	name := filepath.Join(t.TempDir(), "padron.index")
	fecha := fiscope.NewFecha(2026, 7, 20)
	replaced, err := padron.ImportRows(t.Context(), name, padron.Info{SHA256: padron.SHA256, Fecha: fecha}, unreal)
	require.NoError(t, err)
	assert.Equal(t, []int{12, 13}, replaced, "their lines: the first row is line 2")
	x, err := padron.Open(name)
	require.NoError(t, err)
	defer x.Close()
	assert.Equal(t, padron.Info{Contribuyentes: len(unreal) - 2, SHA256: padron.SHA256, Fecha: fecha}, x.Info())
	for i, row := range unreal {
		if i == len(unreal)-3 || i == len(unreal)-2 {
			continue // replaced
		}
		got, of, err := x.Contribuyente(t.Context(), row.RUC)
		require.NoError(t, err)
		assert.Equal(t, fecha, of)
		assert.Empty(t, cmp.Diff(row.Record(), *got, cmp.AllowUnexported(fiscope.Fecha{})))
	}
	for _, ruc := range []string{"20000000010", "", "2000000000", "200000000001", "2000000000x", "20000 00001", "٢0000000001", "-0000000001", "+9999999999"} {
		got, of, err := x.Contribuyente(t.Context(), ruc)
		require.ErrorIs(t, err, fiscope.ErrNotFound, "%q", ruc)
		assert.Nil(t, got)
		assert.Zero(t, of)
		assert.False(t, ruc != "" && strings.Contains(err.Error(), ruc))
	}
	assert.Equal(t, []string{"20000000009"}, search(t, x, "que vale", 10))
	assert.Empty(t, search(t, x, "segunda", 10), "it was replaced")
}

// TestAnEmptyIndex has nobody.
func TestAnEmptyIndex(t *testing.T) {
	for name, rows := range map[string][]padron.RowForTest{
		"no row":             nil,
		"a row without name": {{RUC: "20000000001"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, rows)
			assert.Equal(t, len(rows), x.Info().Contribuyentes)
			assert.Zero(t, x.Info().Fecha)
			for _, text := range []string{"", " ", "a", "a b", "a  ", strings.Repeat("a", 1000)} {
				assert.Empty(t, search(t, x, text, 10))
			}
			_, _, err := x.Contribuyente(t.Context(), "20000000002")
			require.ErrorIs(t, err, fiscope.ErrNotFound)
		})
	}
}

// TestTooManyTexts refuses a file whose columns are others.
func TestTooManyTexts(t *testing.T) {
	rows := make([]padron.RowForTest, 1<<16+1)
	for i := range rows {
		rows[i] = padron.RowForTest{RUC: fmt.Sprintf("20%09d", i), Estado: "E", Condicion: "E", Ubigeo: fmt.Sprint(i)}
	}
	index := filepath.Join(t.TempDir(), "padron.index")
	_, err := padron.ImportRows(t.Context(), index, padron.Info{SHA256: padron.SHA256}, rows)
	require.ErrorContains(t, err, "columns")
	rows = rows[:1<<16-1]
	_, err = padron.ImportRows(t.Context(), index, padron.Info{SHA256: padron.SHA256}, rows)
	require.NoError(t, err)
	x, err := padron.Open(index)
	require.NoError(t, err)
	defer x.Close()
	c, _, err := x.Contribuyente(t.Context(), rows[1<<16-2].RUC)
	require.NoError(t, err)
	assert.Equal(t, "65534", c.Ubigeo)
}

// TestALongSearchEnds when its caller leaves, each way to search inside words.
func TestALongSearchEnds(t *testing.T) {
	x := indexOf(t, someRows(40_000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		text          string
		offset, words int
	}{
		"a walk":           {"a q", 100, 2000},
		"over offsets":     {"loria s", 0, 1},
		"over words":       {"loria s", 1, 0},
		"a word's offsets": {"loria", 100, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			defer padron.SetCosts(c.offset, c.words)()
			_, err := x.Buscar(ctx, c.text, 30_000)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// TestGenerated makes an index of a generated registry and compares it with the file's rows and with the in-memory
// registry.
func TestGenerated(t *testing.T) {
	file, counts := generated(t, 12_000)
	index := filepath.Join(t.TempDir(), "padron.index")
	report, err := padron.Import(t.Context(), file, index, padron.ImportOptions{})
	require.NoError(t, err)
	x, err := padron.Open(index)
	require.NoError(t, err)
	defer x.Close()
	rows, err := padron.ReadRows(t.Context(), file)
	require.NoError(t, err)
	last := map[string]padron.RowForTest{}
	for _, row := range rows {
		last[row.RUC] = row
	}
	assert.Equal(t, padron.Info{Contribuyentes: len(last), SHA256: report.SHA256, Fecha: fiscope.NewFecha(2026, 7, 20)}, x.Info())
	made, err := os.Stat(index)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), made.Mode().Perm(), "a public registry")
	assert.Less(t, made.Size(), int64(128*len(last)), "bytes")
	assert.Equal(t, len(last), report.Taken)
	assert.Equal(t, len(rows)-len(last), report.Duplicates)
	got := padrongen.Counts{Rows: report.Rows, TooFewFields: report.TooFewFields, TooLong: report.TooLong, BadRUC: report.BadRUC,
		WithoutName: report.WithoutName, Duplicates: report.Duplicates}
	assert.Equal(t, counts, got)
	assert.False(t, slices.Contains([]int{counts.TooFewFields, counts.TooLong, counts.BadRUC, counts.WithoutName, counts.Duplicates}, 0), "each kind: %+v", counts)
	assert.Equal(t, report.Rows, report.Taken+report.Duplicates+report.TooFewFields+report.TooLong+report.BadRUC)
	for ruc, row := range last {
		c, fecha, err := x.Contribuyente(t.Context(), ruc)
		if err != nil || *c != row.Record() || fecha != report.Fecha { // testify takes long over so many
			require.NoError(t, err)
			require.Equal(t, row.Record(), *c)
			require.Equal(t, report.Fecha, fecha)
		}
	}
	registry := inMemory(t, rows)
	kinds := textsOf(x.FoldedNames(), x.Info().Contribuyentes).kinds()
	for i := range 5 {
		for _, kind := range kinds {
			text, limit := kind.text(), []int{10, 50, 60, 1}[i%4]
			require.Equal(t, searchInMemory(t, registry, text, limit), search(t, x, text, limit), "%s: the best %d of %q", kind.name, limit, text)
		}
	}
}
