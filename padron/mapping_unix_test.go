//go:build unix

package padron_test

import (
	"path/filepath"
	"syscall"
	"testing"

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
