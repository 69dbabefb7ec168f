package fiscope

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

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
	p.Base = max(0, cmp.Or(p.Base, 250*time.Millisecond))
	p.Cap = max(0, cmp.Or(p.Cap, max(p.Base, 4*time.Second)))
	p.MaxRetryAfter = max(0, cmp.Or(p.MaxRetryAfter, 10*time.Second))
	return p
}

// WithRetry sets what is retried, and when.
func WithRetry(p RetryPolicy) Option {
	return option(func(c *config) { c.retry = p.filled() })
}

// retry repeats failed attempts as RetryPolicy says, with go-retryablehttp. Its hooks find the question in the context.
func retry(p RetryPolicy, clock calendar, base *url.URL) layer {
	var budget roundtrip.Budget // of all calls
	return func(next ask) ask {
		l := &retrier{policy: p, clock: clock, budget: &budget, loop: &http.Request{URL: base, Header: http.Header{}}}
		l.client = retryablehttp.Client{
			HTTPClient: &http.Client{Transport: attempts(next), CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // following it would pass on the API key and the clave
			}},
			RetryMax:     math.MaxInt32, // checkRetry counts
			RetryWaitMin: p.Base,
			RetryWaitMax: p.Cap,
			CheckRetry:   l.checkRetry,
			Backoff:      l.backoff,
			ErrorHandler: retryablehttp.PassthroughErrorHandler,
		}
		return l.ask
	}
}

type retrier struct {
	policy RetryPolicy
	clock  calendar
	budget *roundtrip.Budget
	client retryablehttp.Client
	loop   *http.Request // what the loop repeats: an empty request, since each attempt makes its own
}

// tries are the attempts of one question.
type tries struct {
	question
	last     *answer
	timeouts int   // attempts that their own timeout ended
	err      error // why the next attempt was not made
	waits    bool  // another attempt follows
}

type triesKey struct{}

func (l *retrier) ask(ctx context.Context, q *question) (*answer, error) {
	t := &tries{question: *q}
	ctx = context.WithValue(ctx, triesKey{}, t)
	_, err := l.client.Do(&retryablehttp.Request{Request: l.loop.WithContext(ctx)}) //nolint:bodyclose // it was read
	switch {
	case t.err != nil && (t.last == nil || outcomeOf(t.err) != quotaClosed):
		return t.last, t.err
	case t.waits && err != nil:
		return t.last, ctx.Err()
	case outcomes[t.last.outcome].away != unusable:
		l.budget.Earn()
	}
	return t.last, nil
}

// attempts is the transport of the retry loop: the layers below make each attempt. It has no CloseIdleConnections,
// which the loop would call after a failure: the pool belongs to the caller.
type attempts ask

func (next attempts) RoundTrip(r *http.Request) (*http.Response, error) {
	t := r.Context().Value(triesKey{}).(*tries)
	t.attempt++
	t.waits = false
	a, err := next(r.Context(), &t.question)
	if err != nil {
		t.err = err
		return nil, err
	}
	a.again = t.last != nil && t.last.outcome == a.outcome
	if a.TimedOut {
		t.timeouts++
	}
	t.last, t.sent = a, a.delivery != DeliveryNotSent
	return a.Response, a.Err
}

// checkRetry is called after each attempt. Sending a validation twice can mean two refusals of the same clave.
func (l *retrier) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	t := ctx.Value(triesKey{}).(*tries)
	if t.err != nil || t.last.err == nil || ctx.Err() != nil || t.attempt > t.set.retries {
		return false, nil
	}
	t.waits = (!t.last.TimedOut || t.timeouts == 1) && // a service that hangs gets no more
		(t.request.body == nil && mayPass(t.last) || l.policy.RetryUnsentPOST && t.last.Unsent && t.last.Transient()) &&
		l.fits(ctx, t) && l.budget.Take()
	return t.waits, nil
}

// mayPass reports whether an immediate retry may succeed.
func mayPass(a *answer) bool {
	switch outcomes[a.outcome].retry {
	case retryPassing:
		return a.Transient()
	case retryOnce:
		return !a.again
	case retryAlways:
		return true
	case retryAsked:
		_, asked := roundtrip.RetryAfter(a.Header, a.reading.now)
		return asked
	}
	return false
}

// fits reports whether the policy and the deadline allow the wait before the next attempt.
func (l *retrier) fits(ctx context.Context, t *tries) bool {
	asked, _ := roundtrip.RetryAfter(t.last.Header, t.last.reading.now)
	deadline, bounded := ctx.Deadline()
	return asked <= l.policy.MaxRetryAfter && (!bounded || time.Until(deadline) > asked+doubled(l.policy.Base, l.policy.Cap, t.attempt-1))
}

// doubled returns a span that doubles n times, up to the longest.
func doubled(base, longest time.Duration, n int) time.Duration {
	for ; n > 0 && base < longest; n-- {
		base = min(base, longest/2) * 2
	}
	return min(base, longest)
}

// backoff returns Retry-After plus a random part of the span (full jitter).
func (l *retrier) backoff(_, _ time.Duration, attempt int, resp *http.Response) time.Duration {
	var asked time.Duration
	if resp != nil {
		asked, _ = roundtrip.RetryAfter(resp.Header, l.clock.now())
	}
	return asked + rand.N(doubled(l.policy.Base, l.policy.Cap, attempt)+1)
}
