package padron

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/filewatch"
)

// Follower answers from the newest import of a path. It is safe for concurrent use.
type Follower struct {
	path   string
	notify []func(Info, error)
	open   atomic.Pointer[openIndex]
	end    context.CancelFunc
	ended  sync.WaitGroup
}

var _ fiscope.Respaldo = (*Follower)(nil)

// openIndex is an index with the state of its file before it was opened.
type openIndex struct {
	*Index
	state   filewatch.State
	damaged atomic.Bool // it was damaged when it was opened
}

// Follow opens the index at path. Within 5 seconds of each later [Import] there, it verifies the new index, answers
// from it, and closes the old one after the calls under way. It refuses a file that is not an intact index, and keeps
// the open one. The first index answers at once, and is verified meanwhile.
//
// Replace an index only by Import or a rename. If the open file itself is overwritten, searches fail, and so do lookups
// that find nothing, until there is an intact file.
//
// Each notify is called, one at a time, with the Info of a new index, or with why a file was refused. It must not call
// [Follower.Close].
func Follow(path string, notify ...func(Info, error)) (*Follower, error) {
	taken := filewatch.Of(path)
	index, err := Open(path)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	f := &Follower{path: path, notify: notify, end: end}
	first := &openIndex{Index: index, state: taken}
	f.open.Store(first)
	f.ended.Go(func() {
		if err := first.Verify(ctx); err != nil && ctx.Err() == nil {
			first.damaged.Store(true)
			f.report(Info{}, err)
		}
		filewatch.Follow(ctx, taken, func() filewatch.State { return filewatch.Of(path) }, func(now filewatch.State) { f.replace(ctx, now) })
	})
	return f, nil
}

// replace replaces the open index with the file, if that is an intact index.
func (f *Follower) replace(ctx context.Context, now filewatch.State) {
	next, err := Open(f.path)
	if err == nil {
		if err = next.Verify(ctx); err != nil {
			_ = next.Close() // it was only read
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
	case err != nil:
		f.report(Info{}, err)
	default:
		old := f.open.Swap(&openIndex{Index: next, state: now})
		_ = old.Close() // it was only read
		f.report(next.Info(), nil)
	}
}

func (f *Follower) report(info Info, err error) {
	for _, notify := range f.notify {
		notify(info, err)
	}
}

// Info returns of what the open index was made.
func (f *Follower) Info() Info { return f.open.Load().Info() }

// Contribuyente is [Index.Contribuyente] of the open index.
func (f *Follower) Contribuyente(ctx context.Context, ruc string) (c *fiscope.Contribuyente, fecha fiscope.Fecha, err error) {
	err = f.ask(func(x *Index) (right bool, err error) {
		c, fecha, err = x.Contribuyente(ctx, ruc)
		return err == nil, err // one that is found is as it was written
	})
	return c, fecha, err
}

// Buscar is [Index.Buscar] on the open index.
func (f *Follower) Buscar(ctx context.Context, texto string, limite int) (found []fiscope.Contribuyente, err error) {
	err = f.ask(func(x *Index) (right bool, err error) {
		found, err = x.Buscar(ctx, texto, limite)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// ask asks the open index, or the next one if it was closed meanwhile. If do does not return right, the answer counts
// only if the file is unchanged since it was opened: otherwise a taxpayer may be missing.
func (f *Follower) ask(do func(*Index) (right bool, err error)) error {
	for {
		open := f.open.Load()
		right, err := do(open.Index)
		switch {
		case right:
			return nil
		case errors.Is(err, os.ErrClosed):
			if open == f.open.Load() {
				return err
			}
			continue
		case open.damaged.Load():
			err = errDamaged
		case open.writtenOver():
			err = errWrittenOver
		default:
			return err
		}
		return fmt.Errorf("padron: %s: %w", f.path, err)
	}
}

// writtenOver reports whether the open file was changed. A replaced file is intact.
func (o *openIndex) writtenOver() bool {
	now := filewatch.Of(o.name)
	return len(now) == 1 && len(o.state) == 1 && os.SameFile(now[0], o.state[0]) && !now.Equal(o.state)
}

// Close waits for the calls under way and closes the index. Later calls fail.
func (f *Follower) Close() error {
	f.end()
	f.ended.Wait()
	return f.open.Load().Close()
}
