package padron

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const oneRow = "20000000001|PEÑA|ACTIVO|HABIDO|150101|AV.|UNO|-|-|10|-|-|-|-|-|\n"

func write(t *testing.T, content string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "padron_reducido_ruc")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// zipped is a zip whose members claim what their headers say, be it true or not.
func zipped(t *testing.T, text string, headers ...zip.FileHeader) string {
	t.Helper()
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, h := range headers {
		if strings.HasSuffix(h.Name, "/") {
			_, err := z.Create(h.Name)
			require.NoError(t, err)
			continue
		}
		data := deflated.Bytes()
		if h.CompressedSize64 > 0 { // so many bytes of it
			data = data[:h.CompressedSize64]
		}
		h.CompressedSize64 = uint64(len(data))
		if h.CRC32 == 0 {
			h.CRC32 = crc32.ChecksumIEEE([]byte(text))
		}
		if h.UncompressedSize64 == 0 {
			h.UncompressedSize64 = uint64(len(text))
		}
		if h.Method == 0 {
			h.Method = zip.Deflate
		}
		raw, err := z.CreateRaw(&h)
		require.NoError(t, err)
		_, err = raw.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.String()
}

// readFile reads a file to its end.
func readFile(name string) (rows []taken, s source, err error) {
	ctx := context.Background()
	opened, err := openSource(ctx, name, unheard)
	if err != nil {
		return nil, source{}, err
	}
	defer opened.Close()
	var report Report
	err = opened.rows(ctx, &report, unheard, func(r *taxpayerRow) error {
		rows = append(rows, taken{Line: r.line, RUC: r.ruc, Nombre: string(r.nombre)})
		return nil
	})
	return rows, *opened, err
}

func TestSource(t *testing.T) {
	text := windows1252(header + "\n" + oneRow)
	member := zip.FileHeader{Name: "padron_reducido_ruc.txt"}
	for name, content := range map[string]string{
		"the text":                    text,
		"a zip":                       zipped(t, text, member),
		"UTF-8":                       header + "\n" + oneRow,
		"UTF-8 in a zip":              zipped(t, header+"\n"+oneRow, member),
		"UTF-8 and a mark":            "\uFEFF" + header + "\r\n" + oneRow,
		"a header without accents":    withoutAccents.Replace(header) + "\n" + windows1252(oneRow),
		"... in UTF-8":                withoutAccents.Replace(header) + "\n" + oneRow,
		"the header alone is UTF-8":   header + "\n" + windows1252(oneRow),
		"no end of the last line":     strings.TrimSuffix(text, "\n"),
		"a zip's member has any name": zipped(t, text, zip.FileHeader{Name: "otro.TXT"}),
		"a folder in a zip":           zipped(t, text, zip.FileHeader{Name: "padron/"}, zip.FileHeader{Name: "padron/padron_reducido_ruc.txt"}),
	} {
		t.Run(name, func(t *testing.T) {
			rows, s, err := readFile(write(t, content))
			require.NoError(t, err)
			assert.Equal(t, []taken{{Line: 2, RUC: 20000000001, Nombre: "PEÑA"}}, rows)
			sum := sha256.Sum256([]byte(content))
			assert.Equal(t, hex.EncodeToString(sum[:]), s.sha256)
			if s.member == nil {
				assert.Equal(t, int64(len(content)), s.size)
			}
		})
	}
}

// One byte that is not UTF-8, and all is Windows-1252: as the file is, and not as a guess for each row.
func TestMixedEncodings(t *testing.T) {
	rows, _, err := readFile(write(t, header+"\n"+oneRow+strings.Repeat("20000000002|A|-|-|-|-|-|-|-|-|-|-|-|-|-|\n", 50_000)+windows1252(oneRow)))
	require.NoError(t, err)
	assert.Equal(t, "PEÃ‘A", rows[0].Nombre)
	assert.Equal(t, "PEÑA", rows[len(rows)-1].Nombre)
}

func TestBrokenSources(t *testing.T) {
	text := windows1252(header + "\n" + strings.Repeat(oneRow, 20_000))
	member := zip.FileHeader{Name: "padron_reducido_ruc.txt"}
	with := func(change func(h *zip.FileHeader)) string {
		h := member
		change(&h)
		return zipped(t, text, h)
	}
	whole := zipped(t, text, member)
	for name, test := range map[string]struct{ content, want string }{
		"empty":               {"", "it is empty"},
		"a web page":          {"<html>", "it is a web page"},
		"a web page in a zip": {zipped(t, "<html>", member), "it is a web page"},
		"a wrong header":      {"RUC|NOMBRE|\n", "is not the header of the registry"},
		"a header alone":      {windows1252(header) + "\n\n", "no row: the download went wrong, try again"},

		"an empty zip":           {zipped(t, text), "its zip holds no file: the download went wrong, try again"},
		"two members":            {zipped(t, text, member, zip.FileHeader{Name: "leame.txt"}), "its zip holds 2 files, and not the registry alone: unpack it, and give the registry's text"},
		"an empty member":        {zipped(t, "", member), `an empty file, "padron_reducido_ruc.txt": the download went wrong, try again`},
		"another member":         {zipped(t, "hola", zip.FileHeader{Name: "leame.txt"}), "is not the header of the registry"},
		"a zip without its end":  {whole[:len(whole)-1], "its zip is cut or damaged"},
		"a zip of its beginning": {whole[:len(whole)/2], "its zip is cut or damaged"},
		"four bytes":             {whole[:4], "its zip is cut or damaged"},
		"another method":         {with(func(h *zip.FileHeader) { h.Method = 12 }), "method 12"},
		"encrypted":              {with(func(h *zip.FileHeader) { h.Flags = 1 }), "encrypted"},
		"a wrong CRC":            {with(func(h *zip.FileHeader) { h.CRC32 = 1 }), "its zip is damaged"},
		"a damaged header":       {zipped(t, "RUC|NOMBRE|\n"+text, zip.FileHeader{Name: "padron_reducido_ruc.txt", CRC32: 1}), "its zip is damaged"},
		"no CRC":                 {strings.ReplaceAll(whole, crcBytes(text), "\x00\x00\x00\x00"), "without a checksum"},
		"a cut stream":           {with(func(h *zip.FileHeader) { h.CompressedSize64 = 1000 }), "its zip ends after"},
		"a longer text":          {with(func(h *zip.FileHeader) { h.UncompressedSize64 = uint64(len(text)) + 1 }), "its zip ends after"},
		"a shorter text":         {with(func(h *zip.FileHeader) { h.UncompressedSize64 = uint64(len(text)) - 1 }), "its zip"},
		"a damaged stream":       {whole[:200] + "\xff\xff\xff\xff" + whole[204:], "its zip is damaged"},
		"an absurd size":         {with(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 50 }), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			name := write(t, test.content)
			_, _, err := readFile(name)
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, name)
			assert.NotContains(t, err.Error(), "PE")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	t.Run("no file", func(t *testing.T) {
		_, err := openSource(t.Context(), filepath.Join(t.TempDir(), "falta.zip"), unheard)
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, "falta.zip")
	})
	t.Run("a folder", func(t *testing.T) {
		_, err := openSource(t.Context(), t.TempDir(), unheard)
		assert.ErrorContains(t, err, "it is not a file")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := openSource(ctx, write(t, header+"\n"+oneRow), unheard)
		require.NoError(t, err)
		defer s.Close()
		cancel()
		assert.ErrorIs(t, s.rows(ctx, &Report{}, unheard, nil), context.Canceled)
		_, err = openSource(ctx, write(t, text), unheard)
		assert.ErrorIs(t, err, context.Canceled)
	})
	t.Run("written while it is read", func(t *testing.T) {
		for what, change := range map[string]func(name string) error{
			"shorter": func(name string) error { return os.Truncate(name, int64(len(text)-1)) },
			"longer, and as old": func(name string) error {
				info, err := os.Stat(name)
				require.NoError(t, err)
				require.NoError(t, os.Truncate(name, info.Size()+1))
				return os.Chtimes(name, time.Time{}, info.ModTime())
			},
			"as long as it": func(name string) error { return os.Chtimes(name, time.Time{}, time.Now().Add(time.Second)) },
		} {
			name := write(t, text)
			s, err := openSource(t.Context(), name, unheard)
			require.NoError(t, err)
			require.NoError(t, change(name))
			err = s.rows(t.Context(), &Report{}, unheard, func(*taxpayerRow) error { return nil })
			assert.ErrorContains(t, err, "written while it was read", what)
			s.Close()
		}
	})
}

// crcBytes is a text's checksum as a zip holds it.
func crcBytes(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return string([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
}

func TestFechaOfTheData(t *testing.T) {
	text := windows1252(header + "\n" + oneRow)
	lateInLima := time.Date(2026, 11, 20, 23, 30, 0, 0, fiscope.Lima)
	old := time.Date(2026, 1, 2, 12, 0, 0, 0, fiscope.Lima)
	var dated bytes.Buffer
	z := zip.NewWriter(&dated)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "a", Method: zip.Deflate, Modified: lateInLima})
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	dos := zip.FileHeader{Name: "a"}
	dos.ModifiedDate, dos.ModifiedTime = (2026-1980)<<9|11<<5|20, 23<<11 //nolint:staticcheck // no zone, and no other date
	for name, test := range map[string]struct {
		content string
		want    string
	}{
		"of the text's file":             {text, "2026-01-02"},
		"of the zip's member":            {dated.String(), "2026-11-20"},
		"of the zip's member, by DOS":    {zipped(t, text, dos), "2026-11-20"},
		"of the zip, if it has no other": {zipped(t, text, zip.FileHeader{Name: "a"}), "2026-01-02"},
	} {
		t.Run(name, func(t *testing.T) {
			name := write(t, test.content)
			require.NoError(t, os.Chtimes(name, old, old))
			_, s, err := readFile(name)
			require.NoError(t, err)
			assert.Equal(t, test.want, s.fecha.String())
		})
	}
}
