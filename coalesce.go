package fiscope

import (
	"context"
	"sync/atomic"

	"github.com/fiscope/fiscope/internal/flight"
)

// flights are the shared queries under way.
type flights = flight.Group[sharedQuestion, *trip]

// sharedQuestion is equal for calls that may share a query.
type sharedQuestion struct {
	key     cacheKey
	reserve int
	fresh   bool
}

// coalesce lets simultaneous identical calls share one query. The query runs in the background: cancelling one caller
// does not cancel the others.
func coalesce(wanted bool, shared *flights) layer {
	if !wanted {
		return nil
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for {
				a, abandoned, err := detach(ctx, shared, sharedQuestion{q.key, q.set.reserve, q.set.fresh}, q, next)
				if abandoned && a.kept == nil && (err != nil || a.err != nil) && ctx.Err() == nil {
					continue // all its callers had left, so it was cancelled
				}
				return a, err
			}
		}
	}
}

// detach asks in the background, or joins the query with the same key. The answer is never nil: before one came, it
// says what was sent so far.
func detach(ctx context.Context, g *flights, key sharedQuestion, q *question, next ask) (_ *answer, abandoned bool, _ error) {
	t, joined, abandoned, err := g.Join(ctx, key, func() (*trip, func(context.Context)) {
		own := *q
		own.trip = new(trip)
		return own.trip, func(ctx context.Context) {
			a, err := next(ctx, &own)
			if a != nil && a.kept == nil { // a cached one is marked already
				a.shared = true
			}
			own.trip.answer, own.trip.err = a, err
		}
	})
	var a *answer
	if err == nil { // otherwise the answer may still come
		a, err = t.answer, t.err
	}
	if a == nil {
		a = t.soFar()
	}
	if joined && a.kept == nil {
		own := *a
		own.coalesced = true
		a = &own
	}
	return a, abandoned, err
}

// trip is what the callers of a background question see of it.
type trip struct {
	sent   atomic.Int32 // attempts that may have reached the service
	answer *answer      // set at the end, with err
	err    error
}

// markSent counts an attempt, unless ctx has ended. A caller that leaves ends ctx before it reads the count, so it
// never reports "not sent" for a sent attempt.
func (t *trip) markSent(ctx context.Context) error {
	if t == nil {
		return ctx.Err()
	}
	t.sent.Add(1)
	if err := ctx.Err(); err != nil {
		t.sent.Add(-1)
		return err
	}
	return nil
}

// soFar is the answer for a caller that leaves now.
func (t *trip) soFar() *answer {
	n := int(t.sent.Load())
	a := &answer{attempts: n}
	if n > 0 {
		a.delivery = DeliveryUnknown
	}
	return a
}
