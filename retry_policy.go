package fiscope

import "time"

// RetryPolicy says what is retried, and when. [WithMaxRetries] says how often.
//
// A GET is retried after a 502, 503 or 504, a 500 (once), a timeout of the attempt (once), a failed name resolution, a
// broken connection or body, and a 429 whose Retry-After is at most MaxRetryAfter. Each wait is Retry-After plus a
// random part of a span that doubles. If the wait does not fit the deadline, the call ends at once with the service's
// error.
//
// The first failure after a success is always retried. Consecutive failures share ten retries; a success returns 0.1 of
// one.
type RetryPolicy struct {
	Base            time.Duration // the span of the first wait. 0: 250 ms; negative: no wait
	Cap             time.Duration // the longest span. 0: 4 s, or Base if that is longer; negative: no wait
	MaxRetryAfter   time.Duration // the longest Retry-After to wait for. 0: 10 s; negative: never
	RetryUnsentPOST bool          // also repeat a receipt validation that certainly was not sent
}

// filled returns the policy with its defaults and without negative values.
func (p RetryPolicy) filled() RetryPolicy {
	or := func(d, byDefault time.Duration) time.Duration {
		if d == 0 {
			return byDefault
		}
		return max(d, 0)
	}
	p.Base = or(p.Base, 250*time.Millisecond)
	p.Cap = or(p.Cap, max(p.Base, 4*time.Second))
	p.MaxRetryAfter = or(p.MaxRetryAfter, 10*time.Second)
	return p
}

// WithRetry sets what is retried, and when.
func WithRetry(p RetryPolicy) Option {
	return option(func(c *config) { c.retry = p.filled() })
}
