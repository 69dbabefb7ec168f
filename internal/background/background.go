// Package background runs goroutines that a client waits for when it is closed.
package background

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
)

// Group tracks goroutines that may outlive the call that began them.
type Group struct {
	Panicked func(text string, stack []byte)

	mu      sync.Mutex
	running map[chan struct{}]struct{} // each is closed when its goroutine ends
}

// Go runs f in a goroutine. A panic of f is logged and recovered.
func (g *Group) Go(f func()) {
	done := make(chan struct{})
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == nil {
		g.running = map[chan struct{}]struct{}{}
	}
	g.running[done] = struct{}{}
	go func() {
		defer g.end(done)
		defer func() {
			if value := recover(); value != nil {
				g.Panicked(fmt.Sprint(value), debug.Stack())
			}
		}()
		f()
	}()
}

func (g *Group) end(done chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, done)
	close(done)
}

// Wait waits for the goroutines that run now, and then for those that they began meanwhile. If ctx ends first, Wait
// returns its cause.
func (g *Group) Wait(ctx context.Context) error {
	for range 2 {
		if err := g.waitOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) waitOnce(ctx context.Context) error {
	g.mu.Lock()
	running := maps.Clone(g.running)
	g.mu.Unlock()
	for done := range running {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
