package filestore_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/filestore"
)

func save(t *testing.T, s *filestore.Store, key, value string) {
	t.Helper()
	require.NoError(t, s.Save(t.Context(), key, []byte(value), time.Hour))
}

func holds(t *testing.T, s *filestore.Store, key, value string) {
	t.Helper()
	got, err := s.Load(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, value, string(got))
}

// A crash cuts the last write short, wherever: all before it is kept, and what comes after it too.
func TestAWriteThatWasCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	save(t, s, "first", "1")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	save(t, s, "second", "2")
	longer, err := os.ReadFile(path)
	require.NoError(t, err)
	for end := len(whole); end < len(longer); end++ {
		require.NoError(t, os.WriteFile(path, longer[:end], 0o600))
		for _, s := range []*filestore.Store{s, open(t, path)} {
			holds(t, s, "first", "1")
			holds(t, s, "second", "")
		}
		save(t, s, "third", "3")
		holds(t, open(t, path), "third", "3")
	}
	require.NoError(t, os.WriteFile(path, append(whole, make([]byte, 100)...), 0o600), "a power cut may leave zeros")
	holds(t, open(t, path), "first", "1")
}

func TestWhatIsNoStoreStaysAsItIs(t *testing.T) {
	for name, content := range map[string]string{
		"something else":  "ruc,razonSocial\n20131312955,SUNAT\n",
		"something short": "x",
		"a later release": "fiscope store 2 ABCDEFGHIJKLMNOPQRSTUVWXYZ\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := filestore.New(path)
			require.ErrorContains(t, err, path)
			assert.ErrorContains(t, err, "choose another path")
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, content, string(got))
		})
	}
	_, err := filestore.New(t.TempDir())
	require.Error(t, err)
	_, err = filestore.New(filepath.Join(t.TempDir(), "none", "store"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestADamagedFileStaysAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	save(t, s, "first", "1")
	save(t, s, "second", "2")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	damaged := bytes.Replace(content, []byte(`{"key":"answer first`), []byte(`{"key:"answer first`), 1)
	require.NoError(t, os.WriteFile(path, damaged, 0o600))
	_, err = filestore.New(path)
	require.ErrorContains(t, err, fmt.Sprintf("damaged at byte %d", bytes.IndexByte(content, '\n')+1))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, damaged, got)
	require.NoError(t, os.Remove(path))
	save(t, s, "third", "3")
	holds(t, s, "first", "")
}

func TestAnEmptyFileIsAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.WriteFile(path+".tmp", bytes.Repeat([]byte("of a crash "), 100), 0o600))
	save(t, open(t, path), "key", "value")
	holds(t, open(t, path), "key", "value")
}

// What is replaced or over leaves the file, and the rest stays, for those too that had it open before.
func TestTheFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, other := open(t, path), open(t, path)
	holds(t, other, "kept", "")
	save(t, s, "kept", "value")
	long := bytes.Repeat([]byte("long "), 2000)
	var largest int64
	for i := range 1000 {
		ttl := time.Hour
		if i%2 == 1 {
			ttl = time.Nanosecond
		}
		require.NoError(t, s.Save(t.Context(), fmt.Sprintf("key %d", i%2*i), long, ttl))
		info, err := os.Stat(path)
		require.NoError(t, err)
		largest = max(largest, info.Size())
	}
	assert.Less(t, largest, int64(3<<20), "13 MB were written")
	holds(t, other, "kept", "value")
	holds(t, other, "key 0", string(long))
	s.SetClock(func() time.Time { return time.Now().Add(2 * time.Hour) })
	for range 200 {
		require.NoError(t, s.Save(t.Context(), "key", long, time.Hour))
	}
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(content), `"answer kept"`)
}
