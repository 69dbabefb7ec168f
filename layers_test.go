package fiscope

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/internal/solguard"
)

// Each layer alone: what is below it is a fake.

// below is the rest of a list. It gives its answers in turn, and the last of them from then on.
type below struct {
	answers []*answer
	errs    []error
	asked   atomic.Int64
	last    atomic.Pointer[question]
	takes   time.Duration
}

func (b *below) ask(ctx context.Context, q *question) (*answer, error) {
	n := int(b.asked.Add(1)) - 1
	b.last.Store(q)
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var a *answer
	var err error
	if i := min(n, len(b.answers)-1); i >= 0 && b.answers[i] != nil {
		own := *b.answers[i] // a flight marks its answer
		a = &own
	}
	if len(b.errs) > 0 {
		err = b.errs[min(n, len(b.errs)-1)]
	}
	return a, err
}

// of is an answer of that outcome, as the layers above the attempt see it.
func of(o outcome, headers ...string) *answer {
	a := &answer{outcome: o, attempts: 1, delivery: DeliveryAnswered, result: new(string)}
	a.Status, a.Header, a.Began = 200, http.Header{}, time.Now()
	a.Response = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		a.Header.Set(name, value)
	}
	if o != found {
		a.result, a.err = nil, &Error{Err: outcomes[o].class, outcome: o}
	}
	return a
}

// asks is the input of these tests.
type asks struct{ invalid error }

func (asks) key() cacheKey      { return cacheKey{op: OpConsultarContribuyente, text: "20131312955"} }
func (a asks) request() request { return request{path: "/x", invalid: a.invalid} }
func (asks) read(*answer) any   { return nil }
func (asks) lifetime(CachePolicy, any, time.Time) time.Duration {
	return time.Hour
}

func aQuestion(set settings) *question {
	q := &question{input: asks{}, key: asks{}.key(), set: &set}
	q.request.http, _ = http.NewRequest(http.MethodGet, "https://h/x", nil)
	return q
}

func quiet() *reporter { return &reporter{observer: &observer{}} }

func inBackground(f func()) { go f() }

func TestLayerHook(t *testing.T) {
	var reported []error
	h := Hook(func(ctx context.Context, _ Operation) (context.Context, func(Response, error)) {
		return ctx, func(_ Response, err error) { reported = append(reported, err) }
	})
	b := &below{answers: []*answer{of(found)}, errs: []error{nil, errors.New("x")}}
	resp := Response{StatusCode: 99}
	for range 2 {
		_, _ = through(b.ask, hook([]Hook{h}))(t.Context(), aQuestion(settings{response: &resp}))
		assert.Zero(t, resp, "what it held is of another call")
	}
	require.Len(t, reported, 2)
	require.NoError(t, reported[0])
	require.Error(t, reported[1])
}

func TestLayerFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := newCache(&CachePolicy{StaleIfError: time.Hour}, nil)
		require.NoError(t, err)
		f := newFallback(keeper{cache: c}, nil, quiet(), flight.Runner{Go: inBackground})
		b := &below{answers: []*answer{of(failed)}, errs: []error{of(failed).err}}
		list := f.layer(b.ask)
		_, err = list(t.Context(), aQuestion(settings{}))
		require.ErrorIs(t, err, ErrUnavailable, "with nothing to fall back on")
		c.put(asks{}.key(), newEntry(of(found), nil, time.Now(), time.Minute))
		time.Sleep(time.Minute)
		for _, asked := range []int64{2, 3, 3, 3} { // the third failure in a row opens it
			a, err := list(t.Context(), aQuestion(settings{}))
			require.NoError(t, err)
			assert.NotNil(t, a.kept)
			assert.Equal(t, asked, b.asked.Load())
		}
		time.Sleep(probePause)
		b.answers, b.errs = []*answer{of(found)}, nil
		_, _ = list(t.Context(), aQuestion(settings{}))
		synctest.Wait()
		assert.False(t, f.down.Open(), "a question in the background closes it")
		a, err := list(t.Context(), aQuestion(settings{}))
		require.NoError(t, err)
		assert.Nil(t, a.kept)
	})
}

func TestLayerReport(t *testing.T) {
	list := func(a *answer, err error) ask {
		return through((&below{answers: []*answer{a}, errs: []error{err}}).ask, report(quiet()))
	}
	for name, test := range map[string]struct {
		a   *answer
		err error
		is  error
	}{
		"a result": {of(found), nil, nil}, "an answer that is an error": {of(notFound), nil, ErrNotFound},
		"no answer": {nil, errDeadlineTooClose, context.DeadlineExceeded}, "an answer, and none after it": {of(failed), context.Canceled, ErrUnavailable},
		"a spent quota": {nil, &spentError{}, ErrQuotaExceeded}, "a blocked clave": {nil, &solguard.Refused{}, ErrSOLCredentialsBlocked},
	} {
		var resp Response
		_, err := list(test.a, test.err)(t.Context(), aQuestion(settings{response: &resp}))
		require.ErrorIs(t, err, test.is, name)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e, name)
		}
		assert.Equal(t, test.a != nil, resp.Attempts == 1, name)
	}
	//lint:ignore SA1012 the point of the test
	_, err := list(of(found), nil)(nil, aQuestion(settings{}))
	require.ErrorIs(t, err, ErrInvalidRequest)
}

func TestLayersRecallAndKeep(t *testing.T) {
	for name, test := range map[string]struct {
		a     *answer
		fresh bool
		asked int64 // by two calls
	}{
		"a result": {of(found), false, 1}, "none": {of(notFound), false, 1}, "a failure": {of(failed), false, 2},
		"without the cache": {of(found), true, 2}, "what lenient reading let pass": {func() *answer { a := of(found); a.lenient = true; return a }(), false, 2},
	} {
		c, err := newCache(&CachePolicy{}, nil)
		require.NoError(t, err)
		for layerName, recalls := range map[string]layer{"keep": nil, "recall": recall(c)} {
			c.entries.Purge()
			b := &below{answers: []*answer{test.a}}
			for range 2 {
				_, err := through(b.ask, recalls, keep(keeper{c, nil, quiet()}))(t.Context(), aQuestion(settings{fresh: test.fresh}))
				require.NoError(t, err)
			}
			assert.Equal(t, test.asked, b.asked.Load(), name+", "+layerName)
		}
	}
}

func TestLayerCheckInput(t *testing.T) {
	b := &below{answers: []*answer{of(found)}}
	list := through(b.ask, checkInput(func(*request) *http.Request { return new(http.Request) }))
	q := aQuestion(settings{})
	q.input = asks{invalid: ErrInvalidRequest}
	_, err := list(t.Context(), q)
	require.ErrorIs(t, err, ErrInvalidRequest)
	assert.Zero(t, b.asked.Load())
	_, err = list(t.Context(), aQuestion(settings{}))
	require.NoError(t, err)
	assert.NotNil(t, b.last.Load().request.http)
}

func TestLayerCoalesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &below{answers: []*answer{of(found)}, takes: time.Second}
		list := through(b.ask, coalesce(true, &flights{Runner: flight.Runner{Go: inBackground}}))
		var joined atomic.Int64
		for i := range 6 { // of whom those with another reserve share nothing with the others
			go func() {
				if a, err := list(t.Context(), aQuestion(settings{reserve: i % 2})); assert.NoError(t, err) && a.coalesced {
					joined.Add(1)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 2, b.asked.Load())
		assert.EqualValues(t, 4, joined.Load())
	})
}

func TestLayerRetry(t *testing.T) {
	policy := RetryPolicy{}.filled()
	unsent := of(unanswered)
	unsent.Answer = roundtrip.Answer{Err: errors.New("refused"), Unsent: true}
	for name, test := range map[string]struct {
		answers []*answer
		errs    []error
		asked   int64
		outcome outcome
	}{
		"a result": {[]*answer{of(found)}, nil, 1, found}, "a 503": {[]*answer{of(failed)}, nil, 3, failed}, "a 500, once": {[]*answer{of(failedOnce)}, nil, 2, failedOnce},
		"a 400": {[]*answer{of(inputRefused)}, nil, 1, inputRefused}, "no answer, and then one": {[]*answer{unsent, of(found)}, nil, 2, found},
		"a 429 that says when": {[]*answer{of(tooFast, "Retry-After: 2"), of(found)}, nil, 2, found}, "... and too late": {[]*answer{of(tooFast, "Retry-After: 60")}, nil, 1, tooFast},
		"the quota refuses the retry": {[]*answer{of(failed)}, []error{nil, &spentError{}}, 2, failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &below{answers: test.answers, errs: test.errs}
				a, err := through(b.ask, retry(policy, nil))(t.Context(), aQuestion(settings{retries: 2}))
				require.NoError(t, err)
				assert.Equal(t, test.outcome, a.outcome)
				assert.Equal(t, test.asked, b.asked.Load())
				assert.EqualValues(t, test.asked, b.last.Load().attempt)
			})
		})
	}
}

func TestLayersOfAnAttempt(t *testing.T) {
	spent := of(found, "Date: Sat, 01 Jan 2000 00:00:00 GMT")
	spent.rateLimit, spent.reset = &RateLimit{Limit: new(9), Remaining: new(0)}, time.Now().Add(time.Hour)
	for name, test := range map[string]struct {
		layer layer
		errs  []error
		asked int64 // by three calls
	}{
		"events":                              {events(quiet()), nil, 3},
		"quota, spent":                        {limitQuota(false, nil, nil, &observer{}), nil, 1},
		"quota, not sent":                     {limitQuota(false, nil, nil, &observer{}), []error{errDeadlineTooClose}, 3},
		"throttle, with a deadline too close": {throttle(rate.NewLimiter(0.001, 1)), nil, 1},
		"no quota, no limit: nothing stands":  {both(limitQuota(true, nil, nil, nil), throttle(nil)), nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := &below{answers: []*answer{spent}, errs: test.errs}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			list := through(b.ask, test.layer)
			for range 3 {
				_, _ = list(ctx, aQuestion(settings{}))
			}
			assert.Equal(t, test.asked, b.asked.Load())
		})
	}
}

// both makes one layer of two.
func both(layers ...layer) layer {
	return func(next ask) ask { return through(next, layers...) }
}

func TestLayersOfAClave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		credentials := &CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: NewSecreto("clave")}
		g := &solGuard{here: solguard.New(nil), apart: flight.Runner{Go: inBackground}}
		b := &below{answers: []*answer{of(solRefused)}, takes: time.Second}
		list := through(b.ask, g.permits, g.claims)
		for range 10 {
			go func() {
				q := aQuestion(settings{cpeTimeout: time.Minute})
				q.request.sol = credentials
				_, _ = list(t.Context(), q)
			}()
		}
		time.Sleep(time.Minute)
		assert.EqualValues(t, 1, b.asked.Load())
		require.NoError(t, g.forget(t.Context(), credentials))
		q := aQuestion(settings{cpeTimeout: time.Minute})
		q.request.sol = credentials
		_, err := list(t.Context(), q)
		require.NoError(t, err)
		assert.EqualValues(t, 2, b.asked.Load())
	})
}

// Known lets the tests of the package's outside ask what it keeps to itself.
func (e Estado) Known() bool { return e.known() }

// Known lets the tests of the package's outside ask what it keeps to itself.
func (c Condicion) Known() bool { return c.known() }

// UserAgent lets the tests see that of a version, since a test is of none.
var UserAgent = userAgent

// Interned lets the tests see for how long the text of a Secreto is kept.
func Interned(text string) bool {
	texts.Lock()
	defer texts.Unlock()
	_, there := texts.hidden[text]
	return there
}
