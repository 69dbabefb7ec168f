package fiscope

import (
	"context"
)

// events counts each attempt and notifies the observers, after every guard below has recorded it.
func events(r *reporter) layer {
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			a, err := next(ctx, q)
			if err != nil {
				return a, err
			}
			r.observer.attempt(q.attempt, a.Unsent)
			if r.observer.watching() {
				delivery := a.delivery
				if a.Unsent { // this attempt alone
					delivery = DeliveryNotSent
				}
				e := Event{
					Op: q.key.op, Attempt: q.attempt, StatusCode: a.Status, Duration: a.Took,
					RateLimit: a.rateLimit, Delivery: delivery, Warnings: a.warnings,
				}
				if failure := r.failure(ctx, q, a, nil); failure != nil {
					e.Err = failure
				}
				r.observer.event(ctx, e)
			}
			return a, nil
		}
	}
}
