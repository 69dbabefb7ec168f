package fiscope

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/store"
)

// spentError refuses an attempt that would exceed the quota or use the reserve.
type spentError struct {
	left, reserve  int       // left is below 0 if unknown
	refused, until time.Time // calendar time; zero if unknown
}

func (s *spentError) Error() string {
	until := s.until.In(Lima)
	switch hour := until.Format("15:04 (Lima)"); {
	case !s.refused.IsZero():
		return fmt.Sprintf("the service refused with 429 at %s; the next attempt is at %s", s.refused.In(Lima).Format("15:04"), hour)
	case s.left < 0 || s.left > s.reserve:
		return "no queries were left; the next attempt is at " + hour
	case s.reserve > 0:
		return fmt.Sprintf("%d queries are left, and %d are kept in reserve until %s %s", s.left, s.reserve, until.Format(time.DateOnly), hour)
	default:
		return "no queries are left until " + until.Format(time.DateOnly) + " " + hour
	}
}

func isSpent(err error) bool {
	var spent *spentError
	return errors.As(err, &spent)
}

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
			if refused, next := slow.Permit(clock.now()); !next.IsZero() {
				return nil, &spentError{refused: refused, until: next}
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
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case r.Grant == store.Spent:
				return nil, &spentError{left: r.Left, reserve: q.set.reserve, until: r.Until}
			case r.Left < 0 && q.set.reserve > 0:
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
