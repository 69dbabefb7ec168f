package flight

import (
	"context"
	"sync"
	"time"
)

// Group holds the flights under way, by key. Callers with the same key share one. Its Runner is set before the first
// call.
type Group[K comparable, V any] struct {
	*Runner

	mu      sync.Mutex
	flights map[K]*flight[V]
}

// Join waits for the flight of key. If none is under way, it starts one: begin returns the value for its callers, and
// the work that fills it in.
//
// The context of the work ends when its last caller has left. Its deadline is the latest of its callers'. A caller
// leaves when ctx ends: then err is ctx.Err(), and the value may still change. Otherwise err is nil or a *Panic. joined
// is false for the caller that began it; abandoned is true for one that joined after all others had left.
func (g *Group[K, V]) Join(ctx context.Context, key K, begin func() (V, func(context.Context))) (v V, joined, abandoned bool, err error) {
	g.mu.Lock()
	f := g.flights[key]
	if joined = f != nil; joined {
		abandoned = f.Err() != nil
		f.addCaller(ctx)
	} else {
		f = g.begin(ctx, key, begin)
	}
	g.mu.Unlock()
	select {
	case <-f.done:
		return f.value, joined, abandoned, f.err
	case <-ctx.Done():
		f.dropCaller(ctx.Err())
		return f.value, joined, abandoned, ctx.Err()
	}
}

// begin starts a flight. The caller holds the lock.
func (g *Group[K, V]) begin(ctx context.Context, key K, begin func() (V, func(context.Context))) *flight[V] {
	value, work := begin()
	f := &flight[V]{value: value, done: make(chan struct{})}
	f.Context, f.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	f.addCaller(ctx)
	if g.flights == nil {
		g.flights = map[K]*flight[V]{}
	}
	g.flights[key] = f
	g.run(func() { work(f) }, func(panicked error) {
		f.err = panicked
		g.mu.Lock()
		delete(g.flights, key)
		g.mu.Unlock()
		close(f.done)
		f.cancel(nil)
	})
	return f
}

// flight is work under way, and the context of that work.
type flight[V any] struct {
	context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	value  V
	err    error // once it is done

	mu        sync.Mutex
	callers   int
	latest    time.Time // the latest deadline of a caller so far
	unbounded bool      // a caller had no deadline
}

// Deadline returns the latest deadline of the callers so far, and none if one had none.
func (f *flight[V]) Deadline() (time.Time, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.latest, !f.unbounded
}

func (f *flight[V]) addCaller(ctx context.Context) {
	deadline, bounded := ctx.Deadline()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callers++
	f.unbounded = f.unbounded || !bounded
	if deadline.After(f.latest) {
		f.latest = deadline
	}
}

func (f *flight[V]) dropCaller(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.callers--; f.callers == 0 {
		f.cancel(why)
	}
}
