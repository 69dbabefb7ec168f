// Package coalesce makes one query of the calls that ask the same at the same time.
package coalesce

import (
	"context"
	"sync"
	"time"
)

// Group holds the queries under way that others may join. Calls with the same K share a query, and V is
// what it brings. The fields are set before the first call.
type Group[K comparable, V any] struct {
	Go    func(func())  // runs a query in a goroutine
	Keep  bool          // a query that every caller has left goes on, since somebody keeps its answer
	Limit time.Duration // of a query

	mu      sync.Mutex
	queries map[K]*query[V]
}

// query is one under way.
type query[V any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	callers int
	done    chan struct{} // closed when answer is there
	answer  V
}

// Join waits for the query of k that is under way, or begins it with ask, which has a context of its own:
// with the values of the first caller's, and without its end. It returns whether this caller began it,
// and an error, the cause of ctx, where ctx ended first.
func (g *Group[K, V]) Join(ctx context.Context, k K, ask func(context.Context) V) (answer V, first bool, err error) {
	q, first := g.enter(ctx, k, ask)
	select {
	case <-q.done:
		return q.answer, first, nil
	case <-ctx.Done():
		g.leave(k, q)
		return answer, first, context.Cause(ctx)
	}
}

func (g *Group[K, V]) enter(ctx context.Context, k K, ask func(context.Context) V) (q *query[V], first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q = g.queries[k]; q != nil {
		q.callers++
		return q, false
	}
	q = &query[V]{callers: 1, done: make(chan struct{})}
	q.ctx, q.cancel = context.WithTimeout(context.WithoutCancel(ctx), g.Limit) //nolint:gosec // forget calls it
	if g.queries == nil {
		g.queries = map[K]*query[V]{}
	}
	g.queries[k] = q
	g.Go(func() {
		defer close(q.done)
		defer g.end(k, q) // before its callers return: whoever asks again after them begins another
		q.answer = ask(q.ctx)
	})
	return q, true
}

// leave takes note of a caller that gave up. A query that nobody waits for is cancelled, unless its
// answer is kept, and whoever asks from now on begins another.
func (g *Group[K, V]) leave(k K, q *query[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q.callers--
	if q.callers == 0 && !g.Keep {
		g.forget(k, q)
	}
}

func (g *Group[K, V]) end(k K, q *query[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(k, q)
}

// forget lets nobody join a query any more. It is called with the lock held.
func (g *Group[K, V]) forget(k K, q *query[V]) {
	q.cancel()
	if g.queries[k] == q {
		delete(g.queries, k)
	}
}
