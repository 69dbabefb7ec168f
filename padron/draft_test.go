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

// TestAFailedImportLeavesNothing compares the folder with what it was.
func TestAFailedImportLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		when string // the phase in which the caller leaves
		want string // in the error
	}{
		"no registry":            {"<html>", "", "web page"},
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
			files := map[string]string{"registry.txt": c.text, "padron.index": "the old one"}
			dir := folder(t, files)
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

// TestWhatADraftNeverWasIsLeftAlone, and above all what a link leads to.
func TestWhatADraftNeverWasIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(far, name string) error
		name string
	}{
		"a link":                  {os.Symlink, ".import"},
		"a link to nothing":       {func(far, name string) error { return os.Symlink(far+"-none", name) }, ".import"},
		"a folder":                {func(_, name string) error { return os.Mkdir(name, 0o700) }, ".import"},
		"a link, of the rows":     {os.Symlink, ".import-rows"},
		"to nothing, of the rows": {func(far, name string) error { return os.Symlink(far+"-none", name) }, ".import-rows"},
		"a folder, of the rows":   {func(_, name string) error { return os.Mkdir(name, 0o700) }, ".import-rows"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, far := folder(t, map[string]string{"registry.txt": registryText}), folder(t, map[string]string{"far": "of somebody"})
			index := filepath.Join(dir, "padron.index")
			if err := c.put(filepath.Join(far, "far"), index+c.name); err != nil {
				t.Skip(err) // on Windows not everybody may make a link
			}
			_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), index, padron.ImportOptions{})
			require.ErrorContains(t, err, "padron.index"+c.name+" is there and no file: remove it")
			assert.Equal(t, map[string]string{"far": "of somebody"}, contents(t, far))
			_, err = os.Lstat(index + c.name)
			require.NoError(t, err)
			require.NoError(t, os.Remove(index+c.name))
			assert.Equal(t, map[string]string{"registry.txt": registryText}, contents(t, dir))
		})
	}
}

// TestARefusedImportClearsUp after one that was killed, also where it never gets to the rows.
func TestARefusedImportClearsUp(t *testing.T) {
	for name, text := range map[string]string{"an empty file": "", "no registry": "<html>"} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"registry.txt": text, "padron.index.import": "left", "padron.index.import-rows": "left"})
			_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{})
			require.ErrorContains(t, err, "download went wrong")
			assert.Equal(t, map[string]string{"registry.txt": text}, contents(t, dir))
		})
	}
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

// TestALinkToNothingIsRefused: the index would take its place.
func TestALinkToNothingIsRefused(t *testing.T) {
	dir := folder(t, map[string]string{"registry.txt": registryText})
	link := filepath.Join(dir, "padron.index")
	if err := os.Symlink("none", link); err != nil {
		t.Skip(err) // on Windows not everybody may
	}
	_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), link, padron.ImportOptions{})
	require.ErrorContains(t, err, link+": it is a link to nothing: remove it, or make what it leads to")
	require.NoError(t, os.Remove(link), "it is there")
	assert.Equal(t, map[string]string{"registry.txt": registryText}, contents(t, dir))
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
			var text strings.Builder
			text.WriteString(registryHeader)
			for i := range c.rows - c.odd {
				fmt.Fprintf(&text, "20%09d|GLORIA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", i)
			}
			text.WriteString(strings.Repeat("short|\n", c.odd))
			dir := folder(t, map[string]string{"registry.txt": text.String()})
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
			var rows strings.Builder
			for i := range 100 {
				fmt.Fprintf(&rows, "20%09d|GLORIA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", i)
			}
			lines := strings.SplitAfter(rows.String(), "\n")
			dir := folder(t, map[string]string{
				"all.txt":  registryHeader + rows.String(),
				"next.txt": registryHeader + strings.Join(lines[:c.rows], ""),
			})
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
	var text strings.Builder
	text.WriteString(registryHeader)
	for i := range 99 {
		fmt.Fprintf(&text, "20%09d|GLORIA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", i)
	}
	dir := folder(t, map[string]string{
		"registry.txt": text.String() + "20000000100|-|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n20000000100|LECHE|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n",
	})
	report, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{MaxOdd: 1. / 101})
	require.NoError(t, err)
	assert.Equal(t, []padron.OddRow{{Line: 101, Why: "20…100 has no name"}, {Line: 101, Why: "a later row has the same RUC"}}, report.First)
	report.First, report.SHA256, report.Fecha = nil, "", fiscope.Fecha{}
	assert.Equal(t, padron.Report{Rows: 101, Taken: 100, Duplicates: 1}, report)
	assert.Equal(t, 1, report.Odd())
}

// TestTheRegistrysFileStays where its name is that of a draft.
func TestTheRegistrysFileStays(t *testing.T) {
	for _, name := range []string{"padron.index.import", "padron.index.import-rows"} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{name: registryText})
			_, err := padron.Import(t.Context(), filepath.Join(dir, name), filepath.Join(dir, "padron.index"), padron.ImportOptions{})
			require.ErrorContains(t, err, "name another one for the index")
			assert.Equal(t, map[string]string{name: registryText}, contents(t, dir))
		})
	}
}

func TestOfTwoImportsOneFails(t *testing.T) {
	dir := folder(t, map[string]string{"registry.txt": registryText})
	file, index := filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index")
	tried := map[string]bool{}
	_, err := padron.Import(t.Context(), file, index, padron.ImportOptions{Progress: func(p padron.Progress) {
		if tried[p.Phase] {
			return
		}
		tried[p.Phase] = true
		_, err := padron.Import(t.Context(), file, index, padron.ImportOptions{})
		assert.ErrorContains(t, err, "another import")
	}})
	require.NoError(t, err)
	assert.Len(t, tried, 6)
	assert.Len(t, contents(t, dir), 2)
	x, err := padron.Open(index)
	require.NoError(t, err)
	require.NoError(t, x.Close())
}

func TestWhereNoIndexIsMade(t *testing.T) {
	dir := folder(t, map[string]string{"registry.txt": registryText})
	file := filepath.Join(dir, "registry.txt")
	for name, c := range map[string]struct{ file, index, want string }{
		"over a folder":                 {file, t.TempDir(), "no file"},
		"over the registry":             {file, file, "registry's file"},
		"in a folder that is not there": {file, filepath.Join(dir, "none", "padron.index"), "no such file"},
		"of a file that is not there":   {filepath.Join(dir, "none.zip"), filepath.Join(dir, "padron.index"), "no such file"},
		"over a device":                 {file, os.DevNull, "no file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := padron.Import(t.Context(), c.file, c.index, padron.ImportOptions{})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, map[string]string{"registry.txt": registryText}, contents(t, dir))
		})
	}
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

// TestTheOldIndexServes while the new one takes its place, and after that.
func TestTheOldIndexServes(t *testing.T) {
	dir := folder(t, map[string]string{"old.txt": registryText, "new.txt": strings.ReplaceAll(registryText, "GLORIA S.A.", "LECHE S.A.")})
	index := filepath.Join(dir, "padron.index")
	_, err := padron.Import(t.Context(), filepath.Join(dir, "old.txt"), index, padron.ImportOptions{})
	require.NoError(t, err)
	x, err := padron.Open(index)
	require.NoError(t, err)
	defer x.Close()
	_, err = padron.Import(t.Context(), filepath.Join(dir, "new.txt"), index, padron.ImportOptions{Progress: func(padron.Progress) {
		assert.Equal(t, []string{"20000000002", "20000000003"}, search(t, x, "gloria", 10))
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"20000000002", "20000000003"}, search(t, x, "gloria", 10))
	next, err := padron.Open(index)
	require.NoError(t, err)
	defer next.Close()
	assert.Equal(t, []string{"20000000003"}, search(t, next, "gloria", 10))
}
