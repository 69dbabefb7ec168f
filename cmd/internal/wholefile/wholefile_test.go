package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/internal/wholefile"
)

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "file")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error { _, _ = io.WriteString(w, s); return err }
	}
	require.NoError(t, wholefile.Write(name, 0o640, text("before", nil)))
	require.NoError(t, wholefile.Write(name, 0o640, text("whole", nil)))
	require.EqualError(t, wholefile.Write(name, 0o640, text("half", errors.New("it broke"))), "it broke")
	require.ErrorIs(t, wholefile.Write(filepath.Join(folder, "none", "file"), 0o640, text("", nil)), os.ErrNotExist)
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "whole", string(got))
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, names, 1, "no part is left")
	if info, err := names[0].Info(); runtime.GOOS != "windows" {
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	}
}
