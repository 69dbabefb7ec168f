// Package coalesce makes one query of the calls that ask the same at the same time.
package coalesce

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/broken"
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
	Lost func(*broken.Panic)

	mu      sync.Mutex
	queries map[K]*query[V]
}

// Tell is how a query says what it is about to do, and what it has brought so far for whoever leaves it:
// to wait until a time, for which the callers whose deadline comes first do not stay; or, with the zero
// time, to send, where sent says whether it may have been sent by now. It returns whether anybody stays. A query
// without callers may do neither: its context ends.
type Tell[V any] func(soFar V, until time.Time, sent bool) (stays bool)

// query is one under way. All but done is guarded by the group's mutex, and answer and off by done.
type query[V any] struct {
	cancel    context.CancelCauseFunc
	deadlines []time.Time // of its callers; zero for none
	firstLeft bool        // the caller who began it has left

	soFar V
	until time.Time     // of its wait
	sent  bool          // it may have been sent, and is not answered
	told  chan struct{} // closed when one of these three changes, and at the end

	done   chan struct{} // closed when answer or off is there
	answer V
	off    *broken.Off // how the query was broken off
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
// If ask panics, its caller's goroutine panics with a *broken.Panic; if ask ends its goroutine
// (runtime.Goexit), that of its caller ends; and the others get a *Failed, with what the query brought so far.
func (g *Group[K, V]) Join(ctx context.Context, k K, ask func(context.Context, Tell[V]) V) (answer V, first bool, err error) {
	deadline, _ := ctx.Deadline()
	q, first := g.enter(ctx, k, deadline, ask)
	for {
		gone := ctx.Err()        // before whether it is over: an answer that came first is there then
		over := isClosed(q.done) // before what it told: one that ends since nobody stays has told so
		soFar, until, told := g.look(q)
		switch {
		case !staysUntil(until)(deadline):
			g.leave(k, q, deadline, first, context.DeadlineExceeded)
			return soFar, first, nil
		case over: // an answer that is there is better than none
			answer, err = q.brought(first)
			return answer, first, err
		case gone != nil:
			return g.leave(k, q, deadline, first, gone), first, gone
		}
		select {
		case <-told:
		case <-ctx.Done():
		}
	}
}

// staysUntil returns whether a caller with a deadline stays for a wait until then, where either may be none.
func staysUntil(until time.Time) func(deadline time.Time) bool {
	return func(deadline time.Time) bool {
		return until.IsZero() || deadline.IsZero() || deadline.After(until)
	}
}

func (g *Group[K, V]) enter(ctx context.Context, k K, deadline time.Time, ask func(context.Context, Tell[V]) V) (q *query[V], first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q = g.queries[k]; q == nil {
		q, first = g.begin(ctx, k, ask), true
	}
	q.deadlines = append(q.deadlines, deadline)
	return q, first
}

// begin is called with the lock held.
func (g *Group[K, V]) begin(ctx context.Context, k K, ask func(context.Context, Tell[V]) V) *query[V] {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	q := &query[V]{cancel: cancel, told: make(chan struct{}), done: make(chan struct{})}
	if g.queries == nil {
		g.queries = map[K]*query[V]{}
	}
	g.queries[k] = q
	g.Go(func() {
		broken.Run(func() {
			q.answer = ask(ctx, func(soFar V, until time.Time, sent bool) bool { return g.tell(k, q, soFar, until, sent) })
		}, func(off *broken.Off) {
			q.off = off
			g.end(k, q)
		})
	})
	return q
}

// look returns what the query brought so far, until when it waits, and what is closed when that changes.
func (g *Group[K, V]) look(q *query[V]) (V, time.Time, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return q.soFar, q.until, q.told
}

// tell takes note of what a query is about to do. Those who do not stay for its wait leave by themselves; where
// nobody stays, nobody joins it any more either.
func (g *Group[K, V]) tell(k K, q *query[V], soFar V, until time.Time, sent bool) (stays bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if isClosed(q.done) {
		return false
	}
	q.soFar, q.until, q.sent = soFar, until, sent
	close(q.told)
	q.told = make(chan struct{})
	stays = slices.ContainsFunc(q.deadlines, staysUntil(until))
	switch {
	case stays:
	case len(q.deadlines) == 0:
		g.forget(k, q, nil)
	default:
		g.forget(k, q, context.DeadlineExceeded)
	}
	return stays
}

// leave takes note of a caller that gave up, and returns what the query brought so far. A query that
// nobody waits for is cancelled, for the reason of the last caller, unless it is sent and its answer is kept,
// and whoever asks from now on begins another.
func (g *Group[K, V]) leave(k K, q *query[V], deadline time.Time, first bool, reason error) V {
	g.mu.Lock()
	defer g.mu.Unlock()
	i, last := slices.Index(q.deadlines, deadline), len(q.deadlines)-1
	q.deadlines[i] = q.deadlines[last]
	q.deadlines = q.deadlines[:last]
	q.firstLeft = q.firstLeft || first
	if last == 0 && !(g.Keep && q.sent) {
		g.forget(k, q, reason)
	}
	return q.soFar
}

// end lets the callers return. Whoever asks again after that begins another query.
func (g *Group[K, V]) end(k K, q *query[V]) {
	g.mu.Lock()
	g.forget(k, q, nil)
	lost := q.firstLeft && q.off != nil && q.off.Panic != nil
	close(q.done)
	close(q.told) // callers wait for this alone: each channel that one waits for is an allocation
	g.mu.Unlock()
	if lost && g.Lost != nil {
		g.Lost(q.off.Panic)
	}
}

// forget ends a query's context, and lets nobody join it any more. It is called with the lock held.
func (g *Group[K, V]) forget(k K, q *query[V], reason error) {
	q.cancel(reason)
	if g.queries[k] == q {
		delete(g.queries, k)
	}
}

// brought returns what the query brought. What broke it off is raised in the goroutine of the caller who began it.
func (q *query[V]) brought(first bool) (V, error) {
	switch {
	case q.off == nil:
		return q.answer, nil
	case first:
		q.off.Raise()
	}
	return q.soFar, &Failed{q.off}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
