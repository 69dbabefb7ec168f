package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/filestore"
	"github.com/fiscope/fiscope/internal/lockfile"
	"github.com/fiscope/fiscope/store"
	"github.com/fiscope/fiscope/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(pathEnv); path != "" {
		os.Exit(work(path))
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, path string) *filestore.Store {
	t.Helper()
	s, err := filestore.New(path)
	require.NoError(t, err)
	return s
}

func TestTheStoreKeepsItsPromises(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return &aging{Store: open(t, filepath.Join(t.TempDir(), "store"))}
	})
}

// aging is a Store whose clock moves.
type aging struct {
	*filestore.Store
	ahead time.Duration
}

func (s *aging) Advance(d time.Duration) {
	s.ahead += d
	s.SetClock(func() time.Time { return time.Now().Add(s.ahead) })
}

func TestASpentDayOutlivesItsProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	r, err := s.Reserve(t.Context(), "account", 0)
	require.NoError(t, err)
	reset := time.Now().Add(12 * time.Hour)
	require.NoError(t, s.Commit(t.Context(), "account", r, store.Outcome{Written: 1, Served: true, Reset: reset}))
	for _, step := range []struct {
		after time.Duration
		want  store.Grant
	}{{time.Second, store.Spent}, {time.Hour, store.Probe}, {13 * time.Hour, store.Probe}} {
		after, want := step.after, step.want
		s = open(t, path)
		s.SetClock(func() time.Time { return time.Now().Add(after) })
		r, err = s.Reserve(t.Context(), "account", 0)
		require.NoError(t, err)
		assert.Equal(t, want, r.Grant, after)
		require.NoError(t, s.Commit(t.Context(), "account", r, store.Outcome{Remaining: -1}))
	}
}

func TestAClaimIsHeldForItsTime(t *testing.T) {
	for after, want := range map[time.Duration]store.ClaimState{
		59 * time.Second: store.ClaimBusy,
		time.Minute:      store.ClaimGranted,
		-time.Hour:       store.ClaimGranted, // the clock was set back
	} {
		s, now := open(t, filepath.Join(t.TempDir(), "store")), time.Now()
		s.SetClock(func() time.Time { return now })
		_, err := s.Claim(t.Context(), "credential", time.Minute)
		require.NoError(t, err)
		s.SetClock(func() time.Time { return now.Add(after) })
		c, err := s.Claim(t.Context(), "credential", time.Minute)
		require.NoError(t, err)
		assert.Equal(t, want, c.State, after)
	}
}

func TestAnotherProgramIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	lock, err := lockfile.Open(path + ".lock")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Load(ctx, "key")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, lockfile.ErrLocked)
	assert.ErrorContains(t, err, path)

	done := make(chan error)
	go func() { done <- s.Save(t.Context(), "key", []byte("value"), time.Hour) }()
	_, err = s.Load(ctx, "key")
	require.ErrorIs(t, err, context.DeadlineExceeded, "nor does a goroutine that waits keep others")
	require.NoError(t, lock.Close())
	require.NoError(t, <-done)
}

func TestTheFilesAreTheirOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder says who may read it")
	}
	path := filepath.Join(t.TempDir(), "store")
	open(t, path)
	for _, name := range []string{path, path + ".lock"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}
