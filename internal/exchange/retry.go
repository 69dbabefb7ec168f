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
	Post   bool // what is attempted is a POST
	// Attempt makes the attempt with that number, from 1 on, and keeps its answer. An error says that the
	// attempt was not made, and ends the loop: with that error, or with the last answer for ErrNoRetry.
	Attempt func(ctx context.Context, number int) (Answer, error)
	// Waiting, where it is set, is called before each wait, with what Run would return without the attempt
	// that follows it.
	Waiting func(wait time.Duration, soFar Result, err error)
	// Now is what a date in Retry-After is compared with where the answer shows no Date; nil for time.Now.
	Now func() time.Time
}

// ErrNoRetry is what Attempt returns where a retry may not be made, and what came before it counts.
var ErrNoRetry = errors.New("no other attempt may be made")

// Result is what the attempts came to.
type Result struct {
	Attempts  int
	MayBeSent bool // one of them may have reached the service
}

// Run makes the attempts. The error is nil where the answer of the last one counts. Otherwise it says why
// there is none, and why another attempt was not made: by what Attempt said, or since the context ended
// before it.
func (l Loop) Run(ctx context.Context) (Result, error) {
	// Nearly all requests end with their first attempt; go-retryablehttp takes over where another is to
	// be considered. Going through it at once would cost 20 allocations a request.
	first := tries{Loop: l}
	if !first.attempt(ctx) || !first.last.retryable() {
		return first.result, first.failure()
	}
	t := first // on the heap, where the loop's functions need it
	return t.again(ctx)
}

// tries are the attempts of one request.
type tries struct {
	Loop
	result         Result
	last           Answer
	kept           error  // why an attempt was not made, as Attempt said; nil where none was kept back
	internalErrors int    // answers with status 500
	handedOver     bool   // the retry loop knows the first answer
	setAside       bool   // a retry of the budget is held for the next attempt
	seed           uint64 // of the random waits
}

// attempt reports whether the attempt was made.
func (t *tries) attempt(ctx context.Context) bool {
	answer, err := t.Attempt(ctx, t.result.Attempts+1)
	if err != nil {
		t.kept = err
		return false
	}
	t.last, t.setAside = answer, false
	t.result.Attempts++
	t.result.MayBeSent = t.result.MayBeSent || !answer.Unsent
	if answer.Status == http.StatusInternalServerError {
		t.internalErrors++
	}
	return true
}

// failure returns why there is no answer that counts, and nil where there is one.
func (t *tries) failure() error {
	err := t.last.Err
	if t.kept == nil || errors.Is(t.kept, ErrNoRetry) || errors.Is(err, t.kept) {
		return err
	}
	return errors.Join(err, t.kept)
}

// again hands the first answer to the retry loop, which sees to the other attempts.
func (t *tries) again(ctx context.Context) (Result, error) {
	t.seed = rand.Uint64()
	anything, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, "/", nil) // each attempt makes its own
	if err != nil {
		return t.result, err
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
	defer t.giveBack()
	resp, err := client.Do(anything)
	if err == nil {
		_ = resp.Body.Close() // the bytes are the caller's already
		return t.result, nil
	}
	// The error of the loop names the URL: what it means is known here.
	if t.setAside && t.kept == nil { // the wait for another attempt was interrupted
		t.kept = ctx.Err()
	}
	return t.result, t.failure()
}

// roundTripper has no CloseIdleConnections, which the retry loop would call after a failure: the pool of
// connections belongs to the caller.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// errKept tells the retry loop of an attempt that was not made.
var errKept = errors.New("the attempt was not made")

// roundTrip is one attempt. Its response holds what was read of the answer.
func (t *tries) roundTrip(r *http.Request) (*http.Response, error) {
	if t.handedOver && !t.attempt(r.Context()) {
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

// checkRetry is called after each attempt. A yes sets a retry of the budget aside, so that no two calls
// wait for the same one: whoever gets none ends at once, with the answer it has.
func (t *tries) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	a, made := answerOf(resp, err)
	if !made || a.Err != nil && ctx.Err() != nil || !a.retryable() || !t.repeatable(a) ||
		t.result.Attempts > t.Policy.MaxRetries || !t.waitFits(ctx, a) {
		return false, nil
	}
	t.setAside = t.Budget.Take()
	if t.setAside && t.Waiting != nil {
		t.Waiting(t.wait(a, t.result.Attempts-1), t.result, t.failure())
	}
	return t.setAside, nil
}

// giveBack returns what was set aside for an attempt that was not made: the wait for it was interrupted, or
// something kept it from leaving.
func (t *tries) giveBack() {
	if t.setAside {
		t.Budget.GiveBack()
	}
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
	if t.Post {
		return t.Policy.RetryUnsentPOST && a.Unsent
	}
	return a.Status != http.StatusInternalServerError || t.internalErrors == 1
}

// waitFits reports whether the wait before the next attempt is one that the policy allows, and ends
// before the context's deadline.
func (t *tries) waitFits(ctx context.Context, a Answer) bool {
	asked := t.asked(a)
	deadline, bounded := ctx.Deadline()
	wait := t.wait(a, t.result.Attempts-1)
	return asked <= t.Policy.MaxRetryAfter && (!bounded || time.Until(deadline) > wait)
}

// asked returns the wait that an answer asks for.
func (t *tries) asked(a Answer) time.Duration {
	now := t.Now
	if now == nil {
		now = time.Now
	}
	asked, _ := RetryAfter(a.Header, now())
	return asked
}

// backoff returns the wait after the attempt with that number, from 0 on. The retry loop shows it no
// response where the time of the attempt ran out within the body; what its headers ask for counts.
func (t *tries) backoff(_, _ time.Duration, attempt int, _ *http.Response) time.Duration {
	return t.wait(t.last, attempt)
}

// wait returns what an answer asks for, and a random part of a span that doubles (full jitter). The same
// arguments give the same wait, so that the one that is checked is the one that is waited.
func (t *tries) wait(a Answer, attempt int) time.Duration {
	asked := t.asked(a)
	span := min(t.Policy.Cap, math.MaxInt64-longestWait-1)
	if doubled := t.Policy.Base << min(attempt, 16); doubled > 0 && doubled < span {
		span = doubled
	}
	random := rand.New(rand.NewPCG(t.seed, uint64(attempt))) //nolint:gosec // a small count
	return asked + time.Duration(random.Int64N(int64(span)+1))
}
