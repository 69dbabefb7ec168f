// Package filewatch notices that files were changed or replaced.
package filewatch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Interval is how often files are checked.
const Interval = 500 * time.Millisecond

// State is the state of files at one time. It leaves out missing files.
type State []fs.FileInfo

// Of returns the state of files, and of the *.json files in folders.
func Of(names ...string) (state State) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			inside, _ := filepath.Glob(filepath.Join(name, "*.json")) // none if the name has a [
			state = append(state, Of(inside...)...)
		} else if err == nil {
			_ = os.SameFile(info, info) // Windows reads a file's identity at the first comparison
			state = append(state, info)
		}
	}
	return state
}

// Equal reports whether both have the same files, unchanged. It misses a change within one tick of the clock that keeps
// the size.
func (s State) Equal(other State) bool {
	return slices.EqualFunc(s, other, func(a, b fs.FileInfo) bool {
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

// Follow calls changed when two checks in a row find the same new state: a file that is being written is incomplete.
// taken is the state before the caller read the files, so that no change is missed. It ends with ctx.
func Follow(ctx context.Context, taken State, current func() State, changed func(State)) {
	seen := taken
	tick := time.Tick(Interval)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now := current()
		if now.Equal(seen) && !now.Equal(taken) {
			taken = now
			changed(now)
		}
		seen = now
	}
}
