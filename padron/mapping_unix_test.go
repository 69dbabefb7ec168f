//go:build unix

package padron_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron"
)

// TestOpenWaitsForNoWriter of a pipe: a server that looks at it could not be ended.
func TestOpenWaitsForNoWriter(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "padron.index")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := padron.Open(pipe)
	require.ErrorContains(t, err, "not an index of the registry")
}

func TestAnOpenIndexKeepsNoFileOpen(t *testing.T) {
	free := func() uintptr { // a new file has the least number
		file, err := os.Open(os.DevNull)
		require.NoError(t, err)
		defer file.Close()
		return file.Fd()
	}
	index := filepath.Join(t.TempDir(), "padron.index")
	require.NoError(t, os.WriteFile(index, fileOf(t, someRows(1)), 0o600))
	before := free()
	x, err := padron.Open(index)
	require.NoError(t, err)
	defer x.Close()
	assert.LessOrEqual(t, free(), before) // less if the collector has just closed a file of another test
}
