package exchange

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Policy says what is tried again.
type Policy struct {
	MaxRetries      int           // how often an attempt is repeated
	Base            time.Duration // the span of the first wait
	Cap             time.Duration // the longest span
	MaxRetryAfter   time.Duration // the longest Retry-After that is waited for
	RetryUnsentPOST bool          // repeat a POST that provably was not sent: never another one
}

// Loop makes attempts until one is answered or another makes no sense.
type Loop struct {
	Policy Policy
	Budget *Budget
	// Attempt makes the attempt with that number, from 1 on, and keeps its answer. An error says that the
	// attempt was not made, and ends the loop.
	Attempt func(r *http.Request, number int) (Answer, error)
	// Waiting, where it is set, is called before each wait, with what Run would return without the attempt
	// that follows it.
	Waiting func(wait time.Duration, soFar Result, err error)
}

// Result is what the attempts came to.
type Result struct {
	Attempts  int
	MayBeSent bool  // one of them may have reached the service
	Kept      error // why another was wanted and not made, as Attempt said; nil where none was wanted
}

// Run makes the attempts of r, whose body is body, or nil for none. The error is nil where the last
// attempt was answered; otherwise it says why it was not, or that the context ended before the next.
func (l Loop) Run(r *http.Request, body []byte) (Result, error) {
	t := tries{Loop: l, post: body != nil}
	// Nearly all requests end with their first attempt; go-retryablehttp takes over where another is to
	// be considered. Going through it at once would cost 20 allocations a request.
	if !t.attempt(r) || !t.last.retryable() {
		return t.result, t.unanswered(r.Context())
	}
	return t.again(r, body)
}

// tries are the attempts of one request.
type tries struct {
	Loop
	post           bool
	result         Result
	last           Answer
	internalErrors int    // answers with status 500
	handedOver     bool   // the retry loop knows the first answer
	seed           uint64 // of the random waits
}

// attempt reports whether the attempt was made.
func (t *tries) attempt(r *http.Request) bool {
	answer, err := t.Attempt(r, t.result.Attempts+1)
	if err != nil {
		t.result.Kept = withReasons(err, r.Context().Err(), context.Cause(r.Context()))
		return false
	}
	t.last = answer
	t.result.Attempts++
	t.result.MayBeSent = t.result.MayBeSent || !answer.Unsent
	if answer.Status == http.StatusInternalServerError {
		t.internalErrors++
	}
	return true
}

// unanswered returns why the last attempt has no answer, with the end of the context where that came
// with it.
func (t *tries) unanswered(ctx context.Context) error {
	if t.last.Err == nil {
		return nil
	}
	return withReasons(t.last.Err, ctx.Err(), context.Cause(ctx))
}

// withReasons joins what err does not say yet.
func withReasons(err error, reasons ...error) error {
	for _, reason := range reasons {
		if reason != nil && !errors.Is(err, reason) {
			err = errors.Join(err, reason)
		}
	}
	return err
}

// again hands the first answer to the retry loop, which sees to the other attempts.
func (t *tries) again(r *http.Request, body []byte) (Result, error) {
	t.seed = rand.Uint64()
	request := &retryablehttp.Request{Request: r}
	if body != nil {
		if err := request.SetBody(body); err != nil {
			return t.result, err
		}
	}
	client := retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     roundTripper(t.roundTrip),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:     t.Policy.MaxRetries,
		RetryWaitMin: t.Policy.Base,
		RetryWaitMax: t.Policy.Cap,
		CheckRetry:   t.checkRetry,
		Backoff:      t.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := client.Do(request)
	if err == nil {
		_ = resp.Body.Close() // the bytes are the caller's already
		return t.result, nil
	}
	// The error of the loop names the URL: what it means is known here.
	return t.result, withReasons(t.last.Err, r.Context().Err(), context.Cause(r.Context()))
}

// roundTripper has no CloseIdleConnections, which the retry loop would call after a failure: the pool of
// connections belongs to the caller.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// errKept tells the retry loop of an attempt that was not made.
var errKept = errors.New("the attempt was not made")

// roundTrip is one attempt. Its response holds what was read of the answer.
func (t *tries) roundTrip(r *http.Request) (*http.Response, error) {
	if t.handedOver && !t.attempt(r) {
		return nil, errKept
	}
	t.handedOver = true
	if t.last.Err != nil {
		return nil, &failed{t.last}
	}
	return &http.Response{
		StatusCode: t.last.Status,
		Header:     t.last.Header,
		Body:       &readBody{bytes.NewReader(t.last.Body), t.last.Broken},
		Request:    r,
	}, nil
}

// failed is an attempt without an answer.
type failed struct{ Answer }

func (f *failed) Error() string { return f.Err.Error() }

// readBody is a body that was read within its attempt.
type readBody struct {
	*bytes.Reader
	broken error
}

func (*readBody) Close() error { return nil }

// checkRetry is called after each attempt. A yes is paid for.
func (t *tries) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	a, made := answerOf(resp, err)
	again := made && a.retryable() && t.repeatable(a) && t.result.Attempts <= t.Policy.MaxRetries &&
		t.waitFits(ctx, resp) && t.Budget.Take()
	if again && t.Waiting != nil {
		t.Waiting(t.nextWait(resp), t.result, t.unanswered(ctx))
	}
	return again, nil
}

// answerOf returns what roundTrip made a response or an error of.
func answerOf(resp *http.Response, err error) (a Answer, made bool) {
	var f *failed
	if errors.As(err, &f) {
		return f.Answer, true
	}
	if err != nil {
		return a, false
	}
	a = Answer{Status: resp.StatusCode, Header: resp.Header}
	if body, ok := resp.Body.(*readBody); ok {
		a.Broken = body.broken
	}
	return a, true
}

// repeatable reports whether the request may be sent again at all. A GET changes nothing, though a status
// 500 may be the answer to this very request: it is asked for once more. A validation that was received
// twice can be two refusals of the same clave.
func (t *tries) repeatable(a Answer) bool {
	if t.post {
		return t.Policy.RetryUnsentPOST && a.Unsent
	}
	return a.Status != http.StatusInternalServerError || t.internalErrors == 1
}

// waitFits reports whether the wait before the next attempt is one that the policy allows, and ends
// before the context's deadline.
func (t *tries) waitFits(ctx context.Context, resp *http.Response) bool {
	deadline, bounded := ctx.Deadline()
	return retryAfter(resp) <= t.Policy.MaxRetryAfter && (!bounded || time.Until(deadline) > t.nextWait(resp))
}

// nextWait returns the wait after the last attempt, whose response is resp.
func (t *tries) nextWait(resp *http.Response) time.Duration {
	return t.backoff(t.Policy.Base, t.Policy.Cap, t.result.Attempts-1, resp)
}

// backoff returns the wait after the attempt with that number, from 0 on: what the service asks for, and
// then a random part of a span that doubles (full jitter). The same arguments give the same wait, so that
// the one that is checked is the one that is waited.
func (t *tries) backoff(base, longest time.Duration, attempt int, resp *http.Response) time.Duration {
	span := longest
	if doubled := base << min(attempt, 16); doubled > 0 && doubled < longest {
		span = doubled
	}
	random := rand.New(rand.NewPCG(t.seed, uint64(attempt))) //nolint:gosec // a small count
	asked := retryAfter(resp)
	return asked + min(time.Duration(random.Int64N(int64(span))), math.MaxInt64-asked)
}

func retryAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	asked, _ := RetryAfter(resp.Header, time.Now())
	return asked
}
