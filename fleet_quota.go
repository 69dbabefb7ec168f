package fiscope

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fiscope/fiscope/internal/quota"
)

// How long the store may say that another process is finding out how much is left of the quota: longer than
// an attempt takes, and the next one's after it.
const findingTime = time.Minute

// reserve asks the store for a query of which keep are left to others, for a caller with a deadline, zero for
// none. It returns nil without a fleet, and where the store hangs or fails, or says nothing in the time that the
// caller has for it: then the client's own gate is all there is, but for a store that is exact.
func (f *fleet) reserve(ctx context.Context, deadline time.Time, keep int) (*Reservation, error) {
	if f == nil {
		return nil, nil
	}
	var told Reservation
	ask := func(ctx context.Context) (Reservation, error) {
		if f.exact != nil && told.Grant == QuotaWait {
			return f.exact.ReserveAgain(ctx, f.account, keep, told)
		}
		return f.store.Reserve(ctx, f.account, keep)
	}
	giveBack := func(ctx context.Context, r Reservation) {
		if r.Grant == QuotaGranted {
			_ = f.store.Settle(ctx, f.account, r, Outcome{})
		}
	}
	until := time.Now().Add(findingTime)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		r, err := decide(ctx, &f.quota, deadline, ask, giveBack)
		switch {
		case ctx.Err() != nil:
			if err == nil && r.Grant == QuotaGranted {
				f.settle(ctx, &r, Outcome{}) // nobody sends it
			}
			return nil, ctx.Err()
		case err != nil && f.exact == nil:
			return nil, nil
		case errors.Is(err, errNoTimeLeft):
			return nil, fmt.Errorf("%w: %w", err, quota.ErrAway)
		case err != nil:
			return nil, quota.ErrAway
		case r.Grant == QuotaGranted:
			return &r, nil
		case r.Grant == QuotaSpent:
			return nil, f.spent(r, keep)
		case r.Grant != QuotaWait, !time.Now().Before(until):
			return nil, quota.ErrAway
		}
		told = r
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// spent is what a store says that has no query left but those that are kept for others. What cannot be is
// not repeated: a reset is as near as one of a header.
func (f *fleet) spent(r Reservation, keep int) *quota.Spent {
	s := &quota.Spent{Left: min(max(0, r.Left), keep), Reserve: keep}
	if left := time.Until(r.Until); left > 0 && left < farthestReset {
		s.Until = f.clock.fromReal(r.Until)
	}
	return s
}

// settle tells the store what came of a reservation, also when the caller has gone.
func (f *fleet) settle(ctx context.Context, r *Reservation, o Outcome) {
	if r == nil {
		return
	}
	of := *r
	f.quota.Tell(ctx, "", tellingTime, func(ctx context.Context) { _ = f.store.Settle(ctx, f.account, of, o) })
}
