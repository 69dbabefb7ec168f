package filewatch_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/filewatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tick is when the files of these tests are written: in one tick of the clock.
var tick = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, name, content string, at time.Time) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	require.NoError(t, os.Chtimes(name, at, at))
}

func TestEqual(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, file string)
		equal  bool
	}{
		"untouched": {func(*testing.T, string) {}, true},
		"longer":    {func(t *testing.T, file string) { write(t, file, "abc", tick) }, false},
		"later":     {func(t *testing.T, file string) { write(t, file, "ab", tick.Add(1)) }, false},
		"another":   {func(t *testing.T, file string) { write(t, filepath.Join(filepath.Dir(file), "b.json"), "", tick) }, false},
		"no data":   {func(t *testing.T, file string) { write(t, filepath.Join(filepath.Dir(file), "b.txt"), "", tick) }, true},
		"removed":   {func(t *testing.T, file string) { require.NoError(t, os.Remove(file)) }, false},
		"looks alike": {func(t *testing.T, file string) {
			write(t, file+".next", "cd", tick)
			require.NoError(t, os.Rename(file+".next", file))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "a.json")
			write(t, file, "ab", tick)
			alone, inside := filewatch.Of(file), filewatch.Of(folder)
			assert.Len(t, alone, 1)
			assert.True(t, alone.Equal(inside))
			c.change(t, file)
			assert.Equal(t, c.equal, inside.Equal(filewatch.Of(folder)))
		})
	}
}

// TestFollow takes a state when it stays, and once.
func TestFollow(t *testing.T) {
	folder := t.TempDir()
	states := map[string]filewatch.State{}
	for _, name := range []string{"a", "b", "bb", "bbb", "c"} {
		file := filepath.Join(folder, name)
		write(t, file, name, tick)
		states[name] = filewatch.Of(file)
	}
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Value
		now.Store("a")
		look := func() filewatch.State { return states[now.Load().(string)] }
		taken := 0
		ctx, end := context.WithCancel(t.Context())
		go filewatch.Follow(ctx, states["a"], look, func(state filewatch.State) {
			assert.Equal(t, look(), state)
			taken++
		})
		synctest.Wait()
		after := func(state string, looks, want int) {
			t.Helper()
			now.Store(state)
			time.Sleep(time.Duration(looks) * filewatch.Interval)
			synctest.Wait()
			assert.Equal(t, want, taken, state)
		}
		after("a", 5, 0)
		for _, growing := range []string{"b", "bb", "bbb"} {
			after(growing, 1, 0)
		}
		after("bbb", 5, 1)
		after("a", 1, 1)
		after("a", 5, 2)
		after("c", 1, 2)
		after("a", 5, 2)
		end()
		synctest.Wait()
	})
}
