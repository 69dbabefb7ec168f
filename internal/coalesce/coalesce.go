// Package coalesce makes one query of the calls that ask the same at the same time.
package coalesce

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Group holds the queries under way that others may join. Calls with the same K share a query, and V is
// what it brings. The fields are set before the first call.
type Group[K comparable, V any] struct {
	// Go runs a query in a goroutine.
	Go func(func())
	// Keep says that somebody keeps the answers: a query that every caller has left goes on until what it
	// has sent is answered.
	Keep bool
	// Lost, where it is set, is told of a panic whose caller has left, so that it is raised nowhere.
	Lost func(*Panic)

	mu      sync.Mutex
	queries map[K]*query[V]
}

// Tell is how a query says what it is about to do, and what it has brought so far for whoever leaves it:
// to wait until a time, for which the callers whose deadline comes first do not stay; or, with the zero
// time, to send. A query without callers may do neither: its context ends.
type Tell[V any] func(soFar V, until time.Time)

// query is one under way. All but done is guarded by the group's mutex, and answer and failed by done.
type query[V any] struct {
	cancel    context.CancelCauseFunc
	callers   int
	firstLeft bool // the caller who began it has left

	soFar V
	until time.Time     // of its wait
	sent  bool          // it may have been sent, and is not waiting
	told  chan struct{} // closed when one of these three changes, and at the end

	done   chan struct{} // closed when answer or failed is there
	answer V
	failed *Failed
}

// Join waits for the query of k that is under way, or begins it with ask, whose context has the values of
// the first caller's and ends when nobody needs the query any more, and its cause is the end of the last
// caller's. first says whether this caller began
// it.
//
// A caller whose ctx ends, and one whose deadline comes before the end of the query's wait, leaves at once
// with what the query brought so far, or the zero V; the error is that of ctx, or nil where the deadline is
// only ahead.
//
// If ask panics, its caller's goroutine panics with a *Panic; if ask ends its goroutine (runtime.Goexit),
// that of its caller ends; and the others get a *Failed.
func (g *Group[K, V]) Join(ctx context.Context, k K, ask func(context.Context, Tell[V]) V) (answer V, first bool, err error) {
	q, first := g.enter(ctx, k, ask)
	deadline, bounded := ctx.Deadline()
	for {
		soFar, until, told := g.look(q)
		if bounded && !until.IsZero() && !deadline.After(until) {
			g.leave(k, q, first, context.DeadlineExceeded)
			return soFar, first, nil
		}
		select {
		case <-told:
			if isClosed(q.done) {
				return q.answer, first, q.failure(first)
			}
		case <-ctx.Done():
			if isClosed(q.done) { // an answer that is there is better than none
				return q.answer, first, q.failure(first)
			}
			return g.leave(k, q, first, ctx.Err()), first, ctx.Err()
		}
	}
}

func (g *Group[K, V]) enter(ctx context.Context, k K, ask func(context.Context, Tell[V]) V) (q *query[V], first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q = g.queries[k]; q != nil {
		q.callers++
		return q, false
	}
	return g.begin(ctx, k, ask), true
}

// begin is called with the lock held.
func (g *Group[K, V]) begin(ctx context.Context, k K, ask func(context.Context, Tell[V]) V) *query[V] {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	q := &query[V]{cancel: cancel, callers: 1, told: make(chan struct{}), done: make(chan struct{})}
	if g.queries == nil {
		g.queries = map[K]*query[V]{}
	}
	g.queries[k] = q
	g.Go(func() {
		answered := false
		defer func() {
			if !answered {
				q.failed = &Failed{Caught(recover())}
			}
			g.end(k, q)
		}()
		q.answer = ask(ctx, func(soFar V, until time.Time) { g.tell(k, q, soFar, until) })
		answered = true
	})
	return q
}

// look returns what the query brought so far, until when it waits, and what is closed when that changes.
func (g *Group[K, V]) look(q *query[V]) (V, time.Time, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return q.soFar, q.until, q.told
}

func (g *Group[K, V]) tell(k K, q *query[V], soFar V, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if isClosed(q.done) {
		return
	}
	q.soFar, q.until, q.sent = soFar, until, until.IsZero()
	close(q.told)
	q.told = make(chan struct{})
	if q.callers == 0 {
		g.forget(k, q, nil)
	}
}

// leave takes note of a caller that gave up, and returns what the query brought so far. A query that
// nobody waits for is cancelled, for the reason of the last caller, unless it is sent and its answer is kept,
// and whoever asks from now on begins another.
func (g *Group[K, V]) leave(k K, q *query[V], first bool, reason error) V {
	g.mu.Lock()
	defer g.mu.Unlock()
	q.callers--
	q.firstLeft = q.firstLeft || first
	if q.callers == 0 && !(g.Keep && q.sent) {
		g.forget(k, q, reason)
	}
	return q.soFar
}

// end lets the callers return. Whoever asks again after that begins another query.
func (g *Group[K, V]) end(k K, q *query[V]) {
	g.mu.Lock()
	g.forget(k, q, nil)
	lost := q.firstLeft && q.failed != nil && q.failed.panicked != nil
	close(q.done)
	close(q.told) // callers wait for this alone: each channel that one waits for is an allocation
	g.mu.Unlock()
	if lost && g.Lost != nil {
		g.Lost(q.failed.panicked)
	}
}

// forget ends a query's context, and lets nobody join it any more. It is called with the lock held.
func (g *Group[K, V]) forget(k K, q *query[V], reason error) {
	q.cancel(reason)
	if g.queries[k] == q {
		delete(g.queries, k)
	}
}

// failure returns why the query brought no answer, and raises it in the goroutine of the caller who began
// it.
func (q *query[V]) failure(first bool) error {
	switch {
	case q.failed == nil:
		return nil
	case !first:
		return q.failed
	case q.failed.panicked != nil:
		panic(q.failed.panicked)
	}
	runtime.Goexit()
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
