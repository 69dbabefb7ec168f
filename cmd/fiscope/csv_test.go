package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadTable(t *testing.T) {
	long := strings.Repeat("una línea\n", 300)
	for name, c := range map[string]struct {
		text, sep string
		want      [][]string
		lines     []int
	}{
		"semicolons, with commas in the cells": {"a;b\n1,5;2\n3;4,0\n", "", [][]string{{"a", "b"}, {"1,5", "2"}, {"3", "4,0"}}, []int{1, 2, 3}},
		"commas":                               {"a,b\n1,2\n", "", [][]string{{"a", "b"}, {"1", "2"}}, nil},
		"tabs":                                 {"a\tb\n1\t2\n", "", [][]string{{"a", "b"}, {"1", "2"}}, nil},
		"bars":                                 {"a|b\n1|2\n", "", [][]string{{"a", "b"}, {"1", "2"}}, nil},
		"one column":                           {"RUC\n20131312955\n", "", [][]string{{"RUC"}, {"20131312955"}}, nil},
		"as asked":                             {"a;b,c\n", ",", [][]string{{"a;b", "c"}}, nil},
		"a tab as asked":                       {"a b\tc\n", "tab", [][]string{{"a b", "c"}}, nil},
		"as Excel declares":                    {"sep=|\na;b|c\n", "", [][]string{{"a;b", "c"}}, []int{2}},
		"a byte order mark":                    {"\ufeffa;b\n", "", [][]string{{"a", "b"}}, nil},
		"Windows-1252":                         {"Pe\xf1a;\x80 5\n", "", [][]string{{"Peña", "€ 5"}}, nil},
		"the lines of Windows":                 {"a;b\r\n\r\n1;2\r\n", "", [][]string{{"a", "b"}, {"1", "2"}}, []int{1, 3}},
		"the lines of an old Mac":              {"a;b\r1;2\r", "", [][]string{{"a", "b"}, {"1", "2"}}, []int{1, 2}},
		"lines of separators":                  {"a;b\n;\n\n1;2\n;;\n", "", [][]string{{"a", "b"}, {"1", "2"}}, []int{1, 4}},
		"the end of a file of DOS":             {"a;b\n1;2\n\x1a", "", [][]string{{"a", "b"}, {"1", "2"}}, nil},
		"quotes":                               {"a;\"b;\"\"c\"\"\"\n1;2\n", "", [][]string{{"a", `b;"c"`}, {"1", "2"}}, nil},
		"a cell of many lines":                 {"a;\"" + long + "\"\n1;2\n", "", [][]string{{"a", long}, {"1", "2"}}, []int{1, 302}},
		"an inch":                              {"a;b\nTUBO 3/4\";2\n3;4\n", "", [][]string{{"a", "b"}, {`TUBO 3/4"`, "2"}, {"3", "4"}}, []int{1, 2, 3}},
		"a quote that is never closed":         {"a;b\n\"x;2\n3;4\n5;6\n", "", [][]string{{"a", "b"}, {`"x`, "2"}, {"3", "4"}, {"5", "6"}}, []int{1, 2, 3, 4}},
		"one that another row closes": {"a;b\n\"x;20131312955\n\ny;20100070970\n\"z\";3\n", "",
			[][]string{{"a", "b"}, {`"x`, "20131312955"}, {"y", "20100070970"}, {"z", "3"}}, []int{1, 2, 4, 5}},
		"one that another row closes cleanly": {"a;b\n\"x;20131312955\ny;20100070970\"\n3;4\n", "",
			[][]string{{"a", "b"}, {`"x`, "20131312955"}, {"y", `20100070970"`}, {"3", "4"}}, []int{1, 2, 3, 4}},
		"rows of many widths": {"a;b\n1\n1;2;3\n", "", [][]string{{"a", "b"}, {"1"}, {"1", "2", "3"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.csv")
			write(t, path, c.text)
			table, err := readTable(path, c.sep)
			require.NoError(t, err)
			var cells [][]string
			var lines []int
			for _, r := range table.rows {
				cells, lines = append(cells, r.cells), append(lines, r.line)
			}
			assert.Empty(t, cmp.Diff(c.want, cells))
			if c.lines != nil {
				assert.Equal(t, c.lines, lines)
			}
		})
	}
}

func TestWhatIsNoTable(t *testing.T) {
	for name, c := range map[string]struct{ text, sep, says string }{
		"nothing":            {"", "", "no tiene filas"},
		"blanks":             {" \n;;\n", "", "no tiene filas"},
		"UTF-16":             {"\xff\xfea\x00", "", "UTF-16"},
		"a workbook":         {"PK\x03\x04\x14", "", "es un libro de Excel: guárdelo como «CSV UTF-8»"},
		"an old workbook":    {"\xd0\xcf\x11\xe0\xa1", "", "es un libro de Excel: guárdelo como «CSV UTF-8»"},
		"two separators":     {"a;b", ";,", "-sep es un solo carácter"},
		"a quote to part":    {"a;b", `"`, "-sep es un solo carácter"},
		"only the separator": {"sep=;", "", "no tiene filas"},
		"a zip":              {zipped(t, "compras.csv"), "", "es un zip: descomprímalo"},
		"a zipped workbook":  {zipped(t, "[Content_Types].xml"), "", "es un libro de Excel"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.csv")
			write(t, path, c.text)
			_, err := readTable(path, c.sep)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// zipped returns a zip with one file.
func zipped(t *testing.T, name string) string {
	t.Helper()
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	_, err := z.Create(name)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return text.String()
}

func TestWriteTable(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "salida.csv")
	table := &table{sep: ';', header: []string{"a"}, width: 2, rows: []row{{1, []string{"x;y", "ñ"}}, {2, []string{"z"}}}}
	require.NoError(t, table.write(path, 0o640, []string{"más"}, func(i int) []string { return []string{"=1"} }))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "\ufeffa;columna_2;más\r\n\"x;y\";ñ;'=1\r\nz;;'=1\r\n", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Error(t, table.write(filepath.Join(folder, "no", "salida.csv"), 0o600, nil, nil))
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, names, 1, "nothing is left beside it")
}

func TestCells(t *testing.T) {
	for in, want := range map[string]string{
		" 20131312955 ": "20131312955", "'20131312955": "20131312955", `="20131312955"`: "20131312955", "20131312955.0": "20131312955",
		"20131312955,00": "20131312955", "1,000": "1,000", "2.0131312955E+10": "20131312955", "2,0131312955e10": "20131312955", "20131312955\u200b": "20131312955",
		"2,01E+10": "2,01E+10", "2013131\u00002955": "2013131\x002955", "20 131 312 955": "20131312955", "-": "-", "": "",
	} {
		assert.Equal(t, want, asWritten(in), "%q", in)
	}
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+51": "'+51", "-1": "'-1", "@x": "'@x", "\t=1": "'\t=1", " =1": "' =1", "＝1": "'＝1", "-": "-", "S.A.": "S.A.", "": "",
	} {
		assert.Equal(t, want, harmless(in), "%q", in)
	}
	for in, want := range map[string]string{"010101": `="010101"`, "150101": "150101", "0": "0", "": ""} {
		assert.Equal(t, want, harmless(in))
	}
	assert.Equal(t, "ñandú", shorten("ñandú", 5))
	assert.Equal(t, "ñan…", shorten("ñandú", 4))
}

func FuzzRecords(f *testing.F) {
	for _, text := range []string{"a;b\n\"x;20131312955\ny;20100070970\n\"z\";3\n", "\"", "\r\n\"a\"b\n", "sep=;\n\"\"\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for r := range records(text, ';') {
			require.Greater(t, r.line, last, "each record begins on a line of its own")
			last = r.line
		}
		require.LessOrEqual(t, last, 1+strings.Count(text, "\n"))
	})
}
