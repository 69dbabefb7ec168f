package filestore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/store"
)

// A limit on the size of files stands for a full disk. What was written before stays.
func TestAFullDiskIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	r, err := s.Reserve(t.Context(), "account", 0)
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), "account", r, store.Outcome{Written: 1, Served: true, Remaining: 400, Reset: time.Now().Add(time.Hour)}))
	save(t, s, "first", "1")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 8; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), pathEnv+"="+path)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), syscall.EFBIG.Error())
	holds(t, open(t, path), "first", "1")
}
