package fiscope_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

func TestWhatAGETTriesAgain(t *testing.T) {
	ok := raw(200, contract(t, "consultar_200.json"))
	for name, test := range map[string]struct {
		first    func(*http.Request) (*http.Response, error)
		attempts int
	}{
		"502":                      {raw(502, ""), 2},
		"503":                      {raw(503, ""), 2},
		"504":                      {raw(504, ""), 2},
		"connection reset":         {broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), 2},
		"connection refused":       {broken(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 2},
		"closed without an answer": {broken(io.EOF), 2},
		"an answer that broke off": {func(r *http.Request) (*http.Response, error) {
			resp, _ := raw(200, "")(r)
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"ruc":`), errReader{io.ErrUnexpectedEOF}))
			return resp, nil
		}, 2},
		"an answer that was reset": {func(r *http.Request) (*http.Response, error) {
			resp, _ := raw(200, "")(r)
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"ruc":`), errReader{&net.OpError{Op: "read", Err: syscall.ECONNRESET}}))
			return resp, nil
		}, 2},
		"an answer that is no gzip": {func(r *http.Request) (*http.Response, error) {
			resp, _ := raw(200, "")(r)
			resp.Body = io.NopCloser(errReader{gzip.ErrHeader})
			return resp, nil
		}, 1},
		"a name that does not exist": {broken(&net.DNSError{IsNotFound: true}), 1},
		"a wrong certificate":        {broken(&tls.CertificateVerificationError{Err: errors.New("x")}), 1},
		"not TLS":                    {broken(tls.RecordHeaderError{Msg: "x"}), 1},
		"500":                        {raw(500, ""), 2},
		"429 without a Retry-After":  {raw(429, ""), 1},
		"429 with a short one":       {raw(429, "", "Retry-After: 1"), 2},
		"429 with a long one":        {raw(429, "", "Retry-After: 11"), 1},
		"503 with a long one":        {raw(503, "", "Retry-After: 3600"), 1},
		"501":                        {raw(501, ""), 1},
		"400":                        {raw(400, ""), 1},
		"401":                        {raw(401, ""), 1},
		"404":                        {raw(404, contract(t, "consultar_404.json")), 1},
		"408":                        {raw(408, ""), 1},
		"301":                        {raw(301, ""), 1},
		"a malformed 200":            {raw(200, "<html>"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, test.first, ok)
				var resp fiscope.Response
				err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
				assert.Equal(t, test.attempts == 2, err == nil, err)
				assert.Len(t, s.seen(), test.attempts)
				assert.Equal(t, test.attempts, resp.Attempts)
			})
		})
	}
}

func TestAGETIsTriedThreeTimesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(503, `{"error":"mantenimiento"}`))
		start := time.Now()
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		assert.Len(t, s.seen(), 3)
		assert.EqualValues(t, 2, client.Stats().Retries)
		assert.LessOrEqual(t, time.Since(start), 750*time.Millisecond, "250 ms and 500 ms at most")
		assert.ErrorContains(t, err, "mantenimiento")
		assert.ErrorContains(t, err, "3 attempts")
	})
}

func TestA500IsTriedAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(500, ""))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
		assert.Len(t, s.seen(), 2)

		client, s = answers(t, raw(500, ""), raw(503, ""), raw(500, ""))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
		assert.Len(t, s.seen(), 3)
	})
}

// In a bubble it is midnight UTC of Saturday, 2000-01-01.
func TestRetryAfter(t *testing.T) {
	const jitter = 250 * time.Millisecond
	for name, test := range map[string]struct {
		header string
		asks   time.Duration // as the error says it
		waits  bool
	}{
		"seconds":            {"3", 3 * time.Second, true},
		"the longest":        {"10", 10 * time.Second, true},
		"beyond the cap":     {"11", 11 * time.Second, false},
		"zero":               {"0", 0, true},
		"below zero":         {"-5", 0, true},
		"a fraction":         {"1.5", 1500 * time.Millisecond, true},
		"huge":               {"99999999999999999999", 365 * 24 * time.Hour, false},
		"IMF-fixdate":        {"Sat, 01 Jan 2000 00:00:04 GMT", 4 * time.Second, true},
		"RFC 850":            {"Saturday, 01-Jan-00 00:00:04 GMT", 4 * time.Second, true},
		"asctime":            {"Sat Jan  1 00:00:04 2000", 4 * time.Second, true},
		"a date in the past": {"Fri, 31 Dec 1999 23:59:00 GMT", 0, true},
		"a date far ahead":   {"Sun, 01 Jan 2090 00:00:00 GMT", 365 * 24 * time.Hour, false},
		"garbage":            {"soon", 0, true},
		"Infinity":           {"Inf", 0, true},
		"hexadecimal":        {"0x10", 0, true},
		"empty":              {"", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, raw(503, "", "Retry-After: "+test.header), raw(404, contract(t, "consultar_404.json")))
				start := time.Now()
				err := operations["consultar"](t.Context(), client)
				if !test.waits {
					assert.Zero(t, time.Since(start), "the call ends at once")
					require.ErrorIs(t, err, fiscope.ErrUnavailable, "with the service's error")
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, test.asks, e.RetryAfter)
					assert.Len(t, s.seen(), 1)
					return
				}
				require.ErrorIs(t, err, fiscope.ErrNotFound)
				assert.GreaterOrEqual(t, time.Since(start), test.asks)
				assert.LessOrEqual(t, time.Since(start), test.asks+jitter)
			})
		})
	}
}

func TestAWaitBeyondTheDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(503, `{"error":"mantenimiento"}`, "Retry-After: 5"))
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		start := time.Now()
		err := operations["consultar"](ctx, client)
		assert.Zero(t, time.Since(start))
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, s.seen(), 1)
	})
}

func TestARetryPolicyIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fiscope.DefaultRetryPolicy()
		p.MaxRetries, p.Base, p.Cap = 5, time.Minute, time.Hour
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "")}}
		start := time.Now()
		require.Error(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithRetry(p))))
		assert.Len(t, s.seen(), 6)
		assert.Greater(t, time.Since(start), time.Minute)

		s = &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "")}}
		require.Error(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithRetry(noRetries()))))
		assert.Len(t, s.seen(), 1)
	})
	for name, p := range map[string]fiscope.RetryPolicy{
		"zero":                  {},
		"below zero":            {MaxRetries: -1, Base: 1, Cap: 1},
		"a cap under the base":  {MaxRetries: 1, Base: 2, Cap: 1},
		"an impossible maximum": {MaxRetries: 1, Base: 1, Cap: 1, MaxRetryAfter: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithRetry(p))
			require.ErrorContains(t, err, "DefaultRetryPolicy")
		})
	}
}

func TestAnOutageIsNotAmplified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(503, ""))
		for range 1000 {
			require.Error(t, operations["consultar"](t.Context(), client))
		}
		assert.Len(t, s.seen(), 1010, "ten retries for the whole outage")
		assert.EqualValues(t, 10, client.Stats().Retries)
	})
	synctest.Test(t, func(t *testing.T) { // what succeeds earns retries again
		up := raw(200, contract(t, "consultar_200.json"))
		down := atomic.Bool{}
		s := &service{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
			if down.Load() {
				return raw(503, "")(r)
			}
			return up(r)
		}}}
		client := newClient(t, s)
		down.Store(true)
		for range 100 {
			require.Error(t, operations["consultar"](t.Context(), client))
		}
		down.Store(false)
		for range 21 {
			require.NoError(t, operations["consultar"](t.Context(), client))
		}
		down.Store(true)
		before := len(s.seen())
		for range 10 {
			require.Error(t, operations["consultar"](t.Context(), client))
		}
		assert.Equal(t, 12, len(s.seen())-before, "ten calls and two earned retries")
	})
}

func TestAnUnsentValidationIsRepeatedOnlyIfAsked(t *testing.T) {
	p := fiscope.DefaultRetryPolicy()
	p.RetryUnsentPOST = true
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	dial := func(ok bool) roundTripper { // a transport that tells of its connections
		return func(r *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(r.Context())
			trace.GetConn("x")
			if ok {
				trace.GotConn(httptrace.GotConnInfo{})
				trace.WroteHeaders()
				trace.WroteRequest(httptrace.WroteRequestInfo{})
			}
			return nil, refused
		}
	}
	for name, test := range map[string]struct {
		opts     []fiscope.Option
		rt       http.RoundTripper
		attempts int
		delivery fiscope.Delivery
	}{
		"not by default":        {nil, dial(false), 1, fiscope.DeliveryNotSent},
		"if asked":              {[]fiscope.Option{fiscope.WithRetry(p)}, dial(false), 3, fiscope.DeliveryNotSent},
		"not once it was sent":  {[]fiscope.Option{fiscope.WithRetry(p)}, dial(true), 1, fiscope.DeliveryUnknown},
		"not if nobody can say": {[]fiscope.Option{fiscope.WithRetry(p)}, roundTripper(broken(refused)), 1, fiscope.DeliveryUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *fiscope.Error
				require.ErrorAs(t, operations["validar"](t.Context(), newClient(t, test.rt, test.opts...)), &e)
				assert.Equal(t, test.attempts, e.Attempts)
				assert.Equal(t, test.delivery, e.Delivery)
			})
		})
	}
}

func TestTheWaitsAreJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 50 { // each with a client of its own, since the retries are budgeted
			client, _ := answers(t, raw(503, ""))
			start := time.Now()
			require.Error(t, operations["consultar"](t.Context(), client))
			seen[time.Since(start)] = true
		}
		assert.Greater(t, len(seen), 40)
	})
}

func TestAValidationIsSentOnce(t *testing.T) {
	for name, failure := range map[string]func(*http.Request) (*http.Response, error){
		"502": raw(502, ""), "503": raw(503, ""), "500": raw(500, contract(t, "validar_500.json")),
		"connection reset": broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, failure)
				require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrUnavailable)
				assert.Len(t, s.seen(), 1)
			})
		})
	}
}

func TestAContextThatEndsDuringAWaitEndsTheCallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client, s := answers(t, func(r *http.Request) (*http.Response, error) {
			cancel()
			return raw(503, `{"error":"mantenimiento"}`)(r)
		})
		start := time.Now()
		err := operations["consultar"](ctx, client)
		assert.Zero(t, time.Since(start), "no virtual time passes")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, fiscope.ErrUnavailable, "and the class of the last answer")
		assert.Len(t, s.seen(), 1)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 503, e.StatusCode)
	})
}

func TestACancelledContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	closing := errors.New("the till is closing")
	cancel(closing)
	client, s := answers(t, raw(200, contract(t, "consultar_200.json")))
	for name, do := range operations {
		err := do(ctx, client)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, closing, name)
		assert.Empty(t, classes(err), "it says nothing about the service")
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
	}
	assert.Empty(t, s.seen())
}

// hangs is a service that never answers.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestEachAttemptHasItsTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		op       string
		attempts int
		least    time.Duration
	}{
		"a GET":        {"consultar", 3, 30 * time.Second},
		"a validation": {"validar", 1, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, hangs)
				start := time.Now()
				err := operations[test.op](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Len(t, s.seen(), test.attempts)
				assert.GreaterOrEqual(t, time.Since(start), test.least)
				assert.Less(t, time.Since(start), test.least+time.Second)
			})
		})
	}
}

func TestTheCallersTimeoutBoundsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){hangs}}
		client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHTTPClient(&http.Client{Transport: s, Timeout: time.Second}))
		require.NoError(t, err)
		start := time.Now()
		require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrUnavailable)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestABodyThatTricklesInIsPartOfTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, func(r *http.Request) (*http.Response, error) {
			resp, _ := raw(200, "")(r)
			resp.Body = io.NopCloser(trickle{r.Context()})
			return resp, nil
		})
		start := time.Now()
		err := operations["validar"](t.Context(), client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, []string{"ErrUnavailable"}, classes(err), "what is missing is time")
		assert.Equal(t, 30*time.Second, time.Since(start))
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the till closes"))
		defer cancel()
		err = operations["validar"](ctx, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the till closes")

		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		err = operations["validar"](ctx, client)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, classes(err), "the caller's own doing says nothing about the service")
	})
}

type trickle struct{ ctx context.Context }

func (r trickle) Read(p []byte) (int, error) {
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	}
}

func TestTheLimiterSpacesTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, "consultar_200.json"))}}
		client := newClient(t, s, fiscope.WithRateLimit(rate.Every(time.Minute), 1))
		start := time.Now()
		for range 3 {
			require.NoError(t, operations["consultar"](t.Context(), client), "the wait lies outside the attempt's timeout")
		}
		assert.Equal(t, 2*time.Minute, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		err := operations["consultar"](ctx, client)
		assert.Zero(t, time.Since(start), "a wait that the deadline does not allow is not begun")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, classes(err))
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
		assert.Len(t, s.seen(), 3)
	})
}
