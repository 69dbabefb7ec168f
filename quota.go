package fiscope

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/store"
)

// limitQuota refuses an attempt beyond the day's quota. The Store decides; without one, or while it is away, this
// process does.
func limitQuota(off bool, f *sharedStore, clock clock, notify *observer) layer {
	if off {
		return nil
	}
	var gate dayquota.Gate
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (a *answer, err error) {
			here := gate.Reserve(clock.now(), q.set.reserve)
			shared := f.reserve(ctx, q.set.reserve)
			var o store.Outcome
			defer func() {
				gate.Commit(clock.now(), here, o)
				f.commit(ctx, shared, o)
			}()
			if err := cmp.Or(ctx.Err(), spent(here, shared, q.set.reserve, clock)); err != nil {
				return nil, err
			}
			if q.set.reserve > 0 && !gate.Known() && (shared == nil || shared.Until.IsZero()) {
				notify.reserveIgnored(ctx)
			}
			o = store.Outcome{Written: 1, Remaining: -1} // in case next panics
			if a, err = next(ctx, q); err != nil {
				o.Written = 0
				return a, err
			}
			o = a.quota(clock)
			return a, nil
		}
	}
}

// spent returns the refusal of an attempt, and nil if it may be sent. shared is nil if the Store did not answer.
func spent(here store.Reservation, shared *store.Reservation, reserve int, clock clock) error {
	r := here
	if shared != nil {
		r = *shared
		r.Until = clock.fromReal(r.Until)
	}
	if r.Grant != store.Spent {
		return nil
	}
	e := refused(quotaClosed, "no queries are left")
	if reserve > 0 {
		e.Message = fmt.Sprintf("%d queries are left, and %d are kept in reserve", r.Left, reserve)
	}
	if !r.Until.IsZero() {
		e.Message += " until " + r.Until.In(Lima).Format("2006-01-02 15:04") + " (Lima)"
		e.RetryAfter = max(0, clock.until(r.Until))
	}
	return e
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
	if a.rateLimit != nil {
		o.Remaining, o.Reset = a.rateLimit.left(), a.reset
	}
	if clock == nil { // a test's clock is not the server's
		o.Date, _ = roundtrip.Date(a.Header)
	}
	return o
}
