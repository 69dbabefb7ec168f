package fiscope

import (
	"context"
	"maps"
	"sync"
)

// background knows the goroutines of a client that may outlive the call that began them.
type background struct {
	mu      sync.Mutex
	running map[chan struct{}]struct{} // each is closed when its goroutine ends
}

// start runs f in a goroutine.
func (b *background) start(f func()) {
	done := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		b.running = map[chan struct{}]struct{}{}
	}
	b.running[done] = struct{}{}
	go func() {
		defer b.end(done)
		f()
	}()
}

func (b *background) end(done chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, done)
	close(done)
}

// wait waits for the goroutines that run now, and then for those that they began in their turn: to tell what
// came of them. It returns the context's cause where that ends first.
func (b *background) wait(ctx context.Context) error {
	for range 2 {
		if err := b.waitOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *background) waitOnce(ctx context.Context) error {
	b.mu.Lock()
	running := maps.Clone(b.running)
	b.mu.Unlock()
	for done := range running {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
