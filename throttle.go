package fiscope

import (
	"context"

	"golang.org/x/time/rate"
)

// throttle waits for the limiter, unless the deadline comes first.
func throttle(limiter *rate.Limiter) layer {
	if limiter == nil {
		return nil
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			waiting, cancel := q.set.beforeSending(ctx)
			defer cancel()
			if err := limiter.Wait(waiting); err != nil {
				if ctx.Err() == nil {
					err = errDeadlineTooClose
				}
				return nil, err
			}
			return next(ctx, q)
		}
	}
}
