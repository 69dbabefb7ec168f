package fiscope

import (
	"context"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/store"
)

// slowDown says how long to wait after a 429 that says nothing. After many in a row it refuses attempts, see
// [dayquota.Slowdown]. The Store does not share this: the service may still answer other clients.
func slowDown(off bool, clock calendar) layer {
	var slow dayquota.Slowdown
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			number, at, again := slow.Begin(clock.now())
			if !off && !again.IsZero() {
				return nil, closed(clock, again, "the service refused with 429 at %s; the next attempt is at %s (Lima)", hour(at), hour(again))
			}
			a, err := next(ctx, q)
			switch {
			case err != nil || a.Unsent:
				slow.Return()
			case a.Status != 0:
				a.pause = slow.End(clock.now(), number, a.outcome == silent)
			}
			return a, err
		}
	}
}

// limitQuota refuses an attempt beyond the day's quota. The Store decides; without one, or while it is away, this
// process does.
func limitQuota(off bool, shared *sharedStore, clock calendar, counts *observer) layer {
	if off {
		return nil
	}
	var gate dayquota.Gate
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			here := gate.Reserve(clock.now(), q.set.reserve)
			var o store.Outcome
			defer func() { gate.Commit(clock.now(), here, o) }()
			r := here
			if shared != nil {
				if there := shared.reserve(ctx, q.set.reserve); there != nil {
					defer func() { shared.commit(ctx, there, o) }()
					r = *there
					r.Until = clock.fromReal(r.Until)
				}
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case r.Grant == store.Spent:
				return nil, spent(clock, r, q.set.reserve)
			case q.set.reserve > 0 && r.Left < 0:
				counts.reserveIgnored(ctx)
			}
			q.left = r.Left
			o = store.Outcome{Written: 1, Remaining: -1} // in case next panics
			a, err := next(ctx, q)
			if err != nil {
				o.Written = 0
				return a, err
			}
			o = a.quota(clock)
			return a, nil
		}
	}
}

// closed is the refusal of an attempt before a calendar time.
func closed(clock calendar, until time.Time, format string, args ...any) error {
	e := newError(quotaClosed, format, args...)
	e.RetryAfter = max(0, until.Sub(clock.now()))
	return e
}

func hour(at time.Time) string { return at.In(Lima).Format("15:04") }

// spent returns the refusal of an attempt.
func spent(clock calendar, r store.Reservation, reserve int) error {
	until := r.Until.In(Lima).Format(time.DateOnly) + " " + hour(r.Until)
	switch {
	case r.Left < 0 || r.Left > reserve:
		return closed(clock, r.Until, "no queries were left; the next attempt is at %s (Lima)", hour(r.Until))
	case reserve > 0:
		return closed(clock, r.Until, "%d queries are left, and %d are kept in reserve until %s (Lima)", r.Left, reserve, until)
	}
	return closed(clock, r.Until, "no queries are left until %s (Lima)", until)
}

// quota returns what the answer says about the quota, in calendar time.
func (a *answer) quota(clock calendar) store.Outcome {
	o := store.Outcome{
		Written: 1, Remaining: -1,
		Served:  a.outcome == found || a.outcome == notFound,
		Refused: a.outcome == quotaSpent && a.Status == http.StatusTooManyRequests,
	}
	if a.Unsent {
		o.Written = 0
	}
	if a.rateLimit != nil && outcomes[a.outcome].class != ErrUnauthorized { //nolint:errorlint // the table's own
		o.Remaining, o.Reset = a.remaining, a.reset
	}
	if clock == nil { // a test's clock is not the server's
		o.Date = a.Date
	}
	return o
}
