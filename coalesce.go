package fiscope

import (
	"context"
	"time"

	"github.com/fiscope/fiscope/internal/flight"
)

// flights are the shared queries under way.
type flights = flight.Group[sharedQuestion, *background]

// sharedQuestion is equal for calls that may share a query.
type sharedQuestion struct {
	key     cacheKey
	timeout time.Duration
	retries int
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
				a, abandoned, err := detach(ctx, shared, sharedQuestion{q.key, q.set.timeout, q.set.retries, q.set.reserve, q.set.fresh}, q, next)
				if abandoned && a.source != SourceCache && (err != nil || a.err != nil) && ctx.Err() == nil {
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
	b, joined, abandoned, err := g.Join(ctx, key, func() (*background, func(context.Context)) {
		own := *q
		own.background = new(background)
		return own.background, func(ctx context.Context) {
			a, err := next(ctx, &own)
			if a != nil && a.source != SourceCache { // a cached one is marked already
				a.shared = true
			}
			own.background.answer, own.background.err = a, err
		}
	})
	var a *answer
	if err == nil { // otherwise the answer may still come
		a, err = b.answer, b.err
	}
	if a == nil {
		a = b.soFar()
	}
	if a.source == SourceCache {
		return a, abandoned, err
	}
	own := *a // report writes to it
	if own.joined = joined; joined && own.source != "" {
		own.source = SourceShared
	}
	return &own, abandoned, err
}
