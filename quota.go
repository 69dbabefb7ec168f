package fiscope

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/store"
)

// limitQuota refuses an attempt beyond the day's quota. The Store decides; without one, or while it is away, this
// process does. It also refuses while a long row of 429s said nothing; this is known to one client alone, since others may
// be answered.
func limitQuota(off bool, f *sharedStore, clock clock, notify *observer) layer {
	var gate dayquota.Gate
	var slow dayquota.Slowdown
	return func(next ask) ask {
		paced := func(ctx context.Context, q *question) (*answer, error) {
			number := slow.Begin()
			a, err := next(ctx, q)
			if err == nil && a.Status != 0 {
				a.pause = slow.End(clock.now(), number, a.outcome == silent)
			}
			return a, err
		}
		if off {
			return paced
		}
		return func(ctx context.Context, q *question) (a *answer, err error) {
			if at, next := slow.Permit(clock.now()); !next.IsZero() {
				return nil, closed(clock, next, "the service refused with 429 at %s; the next attempt is at %s", hour(at), hour(next)+" (Lima)")
			}
			here := gate.Reserve(clock.now(), q.set.reserve)
			shared, r := f.reserve(ctx, q.set.reserve), here
			if shared != nil {
				r = *shared
				r.Until = clock.fromReal(r.Until)
			}
			var o store.Outcome
			defer func() {
				gate.Commit(clock.now(), here, o)
				f.commit(ctx, shared, o)
				if o.Written == 0 {
					slow.Return()
				}
			}()
			if err := cmp.Or(ctx.Err(), spent(clock, r, q.set.reserve)); err != nil {
				return nil, err
			}
			if q.set.reserve > 0 && r.Left < 0 {
				notify.reserveIgnored(ctx)
			}
			q.left = r.Left
			o = store.Outcome{Written: 1, Remaining: -1} // in case next panics
			if a, err = paced(ctx, q); err != nil {
				o.Written = 0
				return a, err
			}
			o = a.quota(clock)
			return a, nil
		}
	}
}

// closed is the refusal of an attempt before a calendar time.
func closed(clock clock, until time.Time, format string, args ...any) error {
	e := refused(quotaClosed, format, args...)
	e.RetryAfter = max(0, clock.until(until))
	return e
}

func hour(at time.Time) string { return at.In(Lima).Format("15:04") }

// spent returns the refusal of an attempt, and nil if it may be sent.
func spent(clock clock, r store.Reservation, reserve int) error {
	until := r.Until.In(Lima).Format(time.DateOnly) + " " + hour(r.Until)
	switch {
	case r.Grant != store.Spent:
		return nil
	case r.Left < 0 || r.Left > reserve:
		return closed(clock, r.Until, "no queries were left; the next attempt is at %s (Lima)", hour(r.Until))
	case reserve > 0:
		return closed(clock, r.Until, "%d queries are left, and %d are kept in reserve until %s (Lima)", r.Left, reserve, until)
	}
	return closed(clock, r.Until, "no queries are left until %s (Lima)", until)
}

// quota returns what the answer says about the quota, in calendar time.
func (a *answer) quota(clock clock) store.Outcome {
	o := store.Outcome{
		Written: 1, Remaining: -1,
		Served:  a.outcome == found || a.outcome == notFound,
		Refused: a.outcome == quotaSpent && a.Status == http.StatusTooManyRequests,
	}
	if a.Unsent {
		o.Written = 0
	}
	if a.rateLimit != nil && outcomes[a.outcome].class != ErrUnauthorized { //nolint:errorlint // the table's own
		o.Remaining, o.Reset = a.rateLimit.left(), a.reset
	}
	if clock == nil { // a test's clock is not the server's
		o.Date, _ = roundtrip.Date(a.Header)
	}
	return o
}
