package padron_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/padron"
)

const registryHeader = "RUC|NOMBRE O RAZÓN SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICIÓN DE DOMICILIO|UBIGEO|TIPO DE VÍA|NOMBRE DE VÍA|CÓDIGO DE ZONA|TIPO DE ZONA|NÚMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KILÓMETRO|\n"

// registryText is a registry of three rows.
const registryText = registryHeader +
	"20000000001|ÑANDÚ S.A.|ACTIVO|HABIDO|150101|AV.|AREQUIPA|-|-|123|-|-|-|-|-|\n" +
	"20000000002|GLORIA S.A.|ACTIVO|HABIDO|150101|-|-|-|-|-|-|-|-|-|-|\n" +
	"20000000003|LA GLORIA|BAJA DEFINITIVA|NO HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n"

// numberedRows are n rows of a registry.
func numberedRows(n int) string {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "20%09d|GLORIA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", i)
	}
	return rows.String()
}

// folder is one with the files that are given, each its content.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

// contents returns the names of the files of a folder, and what they hold.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(content)
	}
	return files
}

// TestAFailedImportLeavesNothing compares the folder with what it was, less what a killed import left.
func TestAFailedImportLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		when string // the phase in which the caller leaves
		want string // in the error
	}{
		"no registry":            {"<html>", "", "web page"},
		"an empty file":          {"", "", "download went wrong"},
		"more odd rows than set": {registryText + "2000|short|\n", "", "1 of 4 rows are odd"},
		"cut":                    {registryText[:50], "", "header"},
		"left while it hashes":   {registryText, padron.PhaseHash, "canceled"},
		"left while it decodes":  {registryText, padron.PhaseEncoding, "canceled"},
		"left while it reads":    {registryText, padron.PhaseRead, "canceled"},
		"left while it orders":   {registryText, padron.PhaseOrder, "canceled"},
		"left while it sorts":    {registryText, padron.PhaseWords, "canceled"},
		"left at the end":        {registryText, padron.PhaseInner, "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"registry.txt": c.text, "padron.index": "the old one", "padron.index.import": "left", "padron.index.import-rows": "left"}
			dir := folder(t, files)
			delete(files, "padron.index.import")
			delete(files, "padron.index.import-rows")
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := padron.Import(ctx, filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{
				Progress: func(p padron.Progress) {
					if p.Phase == c.when {
						cancel()
					}
				},
			})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.when != "", errors.Is(err, context.Canceled))
			assert.Equal(t, files, contents(t, dir))
			assert.Empty(t, contents(t, temporary))
		})
	}
}

func TestAnImportTakesWhatAKilledOneLeft(t *testing.T) {
	dir := folder(t, map[string]string{
		"registry.txt":             registryText,
		"padron.index":             "the old one",
		"padron.index.import":      strings.Repeat("left ", 100_000),
		"padron.index.import-rows": "left",
	})
	index := filepath.Join(dir, "padron.index")
	require.NoError(t, os.Chmod(index, 0o640))
	_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), index, padron.ImportOptions{})
	require.NoError(t, err)
	files := contents(t, dir)
	assert.Len(t, files, 2)
	assert.NotContains(t, files["padron.index"], "left ")
	info, err := os.Stat(index)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "who may read it stays")
	x, err := padron.Open(index)
	require.NoError(t, err)
	assert.Equal(t, 3, x.Info().Contribuyentes)
	require.NoError(t, x.Close())
}

// TestALinkToAnIndexStays, and what it leads to is replaced.
func TestALinkToAnIndexStays(t *testing.T) {
	dir, far := folder(t, map[string]string{"registry.txt": registryText}), folder(t, map[string]string{"far.index": "the old one"})
	link := filepath.Join(dir, "padron.index")
	if err := os.Symlink(filepath.Join(far, "far.index"), link); err != nil {
		t.Skip(err) // on Windows not everybody may
	}
	_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), link, padron.ImportOptions{})
	require.NoError(t, err)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	assert.Len(t, contents(t, far), 1)
	x, err := padron.Open(filepath.Join(far, "far.index"))
	require.NoError(t, err)
	require.NoError(t, x.Close())
}

// TestTheShareOfOddRows may equal the limit: as a number, 0.29 times 100 is below 29.
func TestTheShareOfOddRows(t *testing.T) {
	for name, c := range map[string]struct {
		rows, odd int
		most      float64
		refused   bool
	}{
		"one of a hundred":      {100, 1, 0, false},
		"two of a hundred":      {100, 2, 0, true},
		"29 of a hundred":       {100, 29, 0.29, false},
		"30 of a hundred":       {100, 30, 0.29, true},
		"a hundredth and a row": {300, 4, 0.01, true},
		"all":                   {100, 100, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"registry.txt": registryHeader + numberedRows(c.rows-c.odd) + strings.Repeat("short|\n", c.odd)})
			_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{MaxOdd: c.most})
			assert.Equal(t, c.refused, errors.Is(err, padron.ErrOddRows), "%v", err)
		})
	}
}

// TestAMuchSmallerRegistry replaces no index unless it is allowed.
func TestAMuchSmallerRegistry(t *testing.T) {
	for name, c := range map[string]struct {
		rows    int
		allow   bool
		refused bool
	}{
		"as many":            {100, false, false},
		"90 of a hundred":    {90, false, false},
		"89 of a hundred":    {89, false, true},
		"one":                {1, false, true},
		"one, and it may be": {1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"all.txt": registryHeader + numberedRows(100), "next.txt": registryHeader + numberedRows(c.rows)})
			index := filepath.Join(dir, "padron.index")
			_, err := padron.Import(t.Context(), filepath.Join(dir, "all.txt"), index, padron.ImportOptions{})
			require.NoError(t, err)
			before := contents(t, dir)
			report, err := padron.Import(t.Context(), filepath.Join(dir, "next.txt"), index, padron.ImportOptions{AllowSmaller: c.allow})
			assert.Equal(t, c.rows, report.Taken)
			if !c.refused {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, fmt.Sprintf("next.txt: %d taxpayers, and the index that it would replace has 100: ", c.rows))
			assert.Equal(t, before, contents(t, dir))
		})
	}
}

// TestARowIsOddOnce also where it has no name and is replaced.
func TestARowIsOddOnce(t *testing.T) {
	dir := folder(t, map[string]string{
		"registry.txt": registryHeader + numberedRows(99) + "20000000100|-|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n20000000100|LECHE|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n",
	})
	report, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{MaxOdd: 1. / 101})
	require.NoError(t, err)
	assert.Equal(t, []padron.OddRow{{Line: 101, Why: "20…100 has no name"}, {Line: 101, Why: "a later row has the same RUC"}}, report.First)
	report.First, report.SHA256, report.Fecha = nil, "", fiscope.Fecha{}
	assert.Equal(t, padron.Report{Rows: 101, Taken: 100, Duplicates: 1}, report)
	assert.Equal(t, 1, report.Odd())
}

// TestWhereNoIndexIsMade changes nothing of what is there, and above all nothing that a link leads to.
func TestWhereNoIndexIsMade(t *testing.T) {
	link := func(far, name string) error { return os.Symlink(far, name) }
	nowhere := func(far, name string) error { return os.Symlink(far+"-none", name) }
	mkdir := func(_, name string) error { return os.Mkdir(name, 0o700) }
	nothing := func(_, _ string) error { return nil }
	for name, c := range map[string]struct {
		put   func(far, name string) error
		name  string // of what is put
		file  string
		index string
		want  string
	}{
		"over a folder":                 {mkdir, "padron.index", "registry.txt", "padron.index", "no file"},
		"over a link to nothing":        {nowhere, "padron.index", "registry.txt", "padron.index", "padron.index: it is a link to nothing: remove it, or make what it leads to"},
		"over the registry":             {nothing, "", "registry.txt", "registry.txt", "registry's file"},
		"over a device":                 {nothing, "", "registry.txt", os.DevNull, "no file"},
		"a draft over the registry":     {nothing, "", "registry.txt.import", "registry.txt", "name another one for the index"},
		"... its rows over it":          {nothing, "", "registry.txt.import-rows", "registry.txt", "name another one for the index"},
		"in a folder that is not there": {nothing, "", "registry.txt", "none/padron.index", "no such file"},
		"of a file that is not there":   {nothing, "", "none.zip", "padron.index", "no such file"},
		"where a draft's a link":        {link, "padron.index.import", "registry.txt", "padron.index", "padron.index.import is there and no file: remove it"},
		"... to nothing":                {nowhere, "padron.index.import", "registry.txt", "padron.index", "padron.index.import is there and no file: remove it"},
		"... a folder":                  {mkdir, "padron.index.import", "registry.txt", "padron.index", "padron.index.import is there and no file: remove it"},
		"where its rows' is a link":     {link, "padron.index.import-rows", "registry.txt", "padron.index", "padron.index.import-rows is there and no file: remove it"},
		"... likewise to nothing":       {nowhere, "padron.index.import-rows", "registry.txt", "padron.index", "padron.index.import-rows is there and no file: remove it"},
		"... likewise a folder":         {mkdir, "padron.index.import-rows", "registry.txt", "padron.index", "padron.index.import-rows is there and no file: remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"registry.txt": registryText}
			if c.index == "registry.txt" {
				files = map[string]string{c.file: registryText}
			}
			dir, far := folder(t, files), folder(t, map[string]string{"far": "of somebody"})
			if err := c.put(filepath.Join(far, "far"), filepath.Join(dir, c.name)); err != nil {
				t.Skip(err) // on Windows not everybody may make a link
			}
			index := filepath.Join(dir, filepath.FromSlash(c.index))
			if c.index == os.DevNull {
				index = c.index
			}
			_, err := padron.Import(t.Context(), filepath.Join(dir, c.file), index, padron.ImportOptions{})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, map[string]string{"far": "of somebody"}, contents(t, far))
			if c.name != "" {
				require.NoError(t, os.Remove(filepath.Join(dir, c.name)), "it is there")
			}
			assert.Equal(t, files, contents(t, dir))
		})
	}
}

// TestWhileAnImportRuns the old index serves, also after that, and another import fails.
func TestWhileAnImportRuns(t *testing.T) {
	dir := folder(t, map[string]string{"old.txt": registryText, "new.txt": strings.ReplaceAll(registryText, "GLORIA S.A.", "LECHE S.A.")})
	file, index := filepath.Join(dir, "new.txt"), filepath.Join(dir, "padron.index")
	_, err := padron.Import(t.Context(), filepath.Join(dir, "old.txt"), index, padron.ImportOptions{})
	require.NoError(t, err)
	x, err := padron.Open(index)
	require.NoError(t, err)
	defer x.Close()
	tried := map[string]bool{}
	_, err = padron.Import(t.Context(), file, index, padron.ImportOptions{Progress: func(p padron.Progress) {
		tried[p.Phase] = true
		_, err := padron.Import(t.Context(), file, index, padron.ImportOptions{})
		assert.ErrorContains(t, err, "another import")
		assert.Equal(t, []string{"20000000002", "20000000003"}, search(t, x, "gloria", 10))
	}})
	require.NoError(t, err)
	assert.Len(t, tried, 6)
	assert.Len(t, contents(t, dir), 3)
	assert.Equal(t, []string{"20000000002", "20000000003"}, search(t, x, "gloria", 10))
	next, err := padron.Open(index)
	require.NoError(t, err)
	defer next.Close()
	assert.Equal(t, []string{"20000000003"}, search(t, next, "gloria", 10))
}

// TestAnIndexThatCannotTakeItsPlace leaves nothing beside it.
func TestAnIndexThatCannotTakeItsPlace(t *testing.T) {
	dir := folder(t, map[string]string{"registry.txt": registryText})
	index := filepath.Join(dir, "padron.index")
	_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), index, padron.ImportOptions{Progress: func(p padron.Progress) {
		if p.Phase == padron.PhaseInner {
			assert.NoError(t, os.MkdirAll(filepath.Join(index, "a folder"), 0o700))
		}
	}})
	require.ErrorContains(t, err, index)
	require.NoError(t, os.RemoveAll(index))
	assert.Equal(t, map[string]string{"registry.txt": registryText}, contents(t, dir))
}
