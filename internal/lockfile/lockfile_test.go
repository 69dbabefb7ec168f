//go:build unix || windows

package lockfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/lockfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAFileHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := lockfile.Open(path)
	require.NoError(t, err)
	_, err = lockfile.Open(path)
	require.ErrorIs(t, err, lockfile.ErrLocked)
	require.NoError(t, file.Close())
	file, err = lockfile.Open(path)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestAFileIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its folder says who may read it")
	}
	path := filepath.Join(t.TempDir(), "file")
	file, err := lockfile.Open(path)
	require.NoError(t, err)
	info, err := file.Stat()
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, file.Close())
	require.NoError(t, os.WriteFile(path, []byte("kept"), 0o644))
	require.NoError(t, os.Chmod(path, 0o644))
	file, err = lockfile.Open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	info, err = file.Stat()
	require.NoError(t, err)
	assert.EqualValues(t, 4, info.Size(), "what it holds stays")
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "it may be somebody's")
}

func TestWhatCannotBeOpened(t *testing.T) {
	for name, path := range map[string]string{
		"a folder":         t.TempDir(),
		"no folder for it": filepath.Join(t.TempDir(), "none", "file"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lockfile.Open(path)
			require.Error(t, err)
			require.NotErrorIs(t, err, lockfile.ErrLocked)
		})
	}
}
