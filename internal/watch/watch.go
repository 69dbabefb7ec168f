// Package watch notices that files were changed or replaced.
package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Interval is how often files are looked at.
const Interval = 500 * time.Millisecond

// State is how files are at one time. Missing files have none.
type State []fs.FileInfo

// Of returns the state of files, and of those in folders whose names end in .json.
func Of(names ...string) (state State) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			inside, _ := filepath.Glob(filepath.Join(name, "*.json")) // none if the name has a [
			state = append(state, Of(inside...)...)
		} else if err == nil {
			_ = os.SameFile(info, info) // Windows reads which file it is at the first comparison
			state = append(state, info)
		}
	}
	return state
}

// Equal reports whether both are of the same files, unchanged. Two files of one size that were written in one tick of
// the clock have the same time.
func (s State) Equal(other State) bool {
	return slices.EqualFunc(s, other, func(a, b fs.FileInfo) bool {
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

// Follow calls changed each time the state differs from what was taken last for two looks: a file that is being written
// is incomplete. Callers read taken before they read the files, so that no change is missed. It ends with ctx.
func Follow(ctx context.Context, taken State, current func() State, changed func(State)) {
	seen := taken
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := current()
		if now.Equal(seen) && !now.Equal(taken) {
			taken = now
			changed(now)
		}
		seen = now
	}
}
