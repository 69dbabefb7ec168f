package fiscope

import "time"

// RetryPolicy says what is retried. In each field zero is the default and a negative value means never.
//
// A GET is retried after a 502, 503 or 504, a 500 (once), a failed name resolution, a broken connection or body, a
// timeout of the attempt (once), and a 429 whose Retry-After is at most MaxRetryAfter. Each wait is Retry-After plus a random part of a span that doubles. If the wait does not fit
// the deadline, the call ends at once with the service's error.
//
// The first failure after a success is always retried. Consecutive failures share ten retries; a success returns 0.1 of
// one.
type RetryPolicy struct {
	MaxRetries      int           // 2
	Base            time.Duration // the span of the first wait: 250 ms; negative for no wait
	Cap             time.Duration // the longest span: 4 s, or Base if that is longer; negative for no wait
	MaxRetryAfter   time.Duration // the longest Retry-After to wait for: 10 s
	RetryUnsentPOST bool          // also repeat a receipt validation that certainly was not sent
}

const defaultRetries = 2

// filled returns the policy with its defaults and without negative values.
func (p RetryPolicy) filled() RetryPolicy {
	fill := func(d, byDefault time.Duration) time.Duration {
		if d == 0 {
			return byDefault
		}
		return max(d, 0)
	}
	if p.MaxRetries == 0 {
		p.MaxRetries = defaultRetries
	}
	p.MaxRetries = max(p.MaxRetries, 0)
	p.Base = fill(p.Base, 250*time.Millisecond)
	p.Cap = fill(p.Cap, max(p.Base, 4*time.Second))
	p.MaxRetryAfter = fill(p.MaxRetryAfter, 10*time.Second)
	return p
}

// WithRetry sets what is retried. [WithMaxRetries] changes the number alone.
func WithRetry(p RetryPolicy) Option {
	return option(func(c *config) error {
		c.retry = p.filled()
		c.calls.retries = c.retry.MaxRetries
		return nil
	})
}
