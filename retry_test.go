package fiscope_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
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
		"a TLS alert":                {broken(fmt.Errorf("x: %w", tls.AlertError(40))), 1},
		"a TLS alert over TCP":       {broken(&net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}), 1},
		"a TLS alert of ours":        {broken(&net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}), 1},
		"500":                        {raw(500, ""), 2},
		"429 without a Retry-After":  {raw(429, ""), 1},
		"429 with a short one":       {raw(429, "", "Retry-After: 1"), 2},
		"429 with one that is none":  {raw(429, "", "Retry-After: 1.2.3"), 1},
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
		"a version":          {"1.2.3", 0, true},
		"signs":              {"+-", 0, true},
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

// The date is one of the service's clock: its Date says how far ahead it is.
func TestARetryAfterDateIsOfTheServicesClock(t *testing.T) {
	at := func(d time.Duration) string { // in a bubble it is 2000
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(http.TimeFormat)
	}
	for name, test := range map[string]struct {
		date, retryAfter string
		asks             time.Duration
	}{
		"right":                      {at(0), at(4 * time.Second), 4 * time.Second},
		"three hours ahead":          {at(3 * time.Hour), at(3*time.Hour + 4*time.Second), 4 * time.Second},
		"three hours behind":         {at(-3 * time.Hour), at(-3*time.Hour + 4*time.Second), 4 * time.Second},
		"years ahead: ours stopped":  {"Fri, 20 Nov 2026 10:00:00 GMT", "Fri, 20 Nov 2026 10:00:04 GMT", 4 * time.Second},
		"ahead, and it is over":      {at(3 * time.Hour), at(2 * time.Hour), 0},
		"ahead, and it is too long":  {at(3 * time.Hour), at(4 * time.Hour), time.Hour},
		"seconds need no date":       {at(3 * time.Hour), "4", 4 * time.Second},
		"no date":                    {"", at(4 * time.Second), 4 * time.Second},
		"a date that is none":        {"soon", at(4 * time.Second), 4 * time.Second},
		"of a clock that never ran":  {"Thu, 01 Jan 1970 00:00:00 GMT", at(4 * time.Second), 4 * time.Second},
		"of a clock a century ahead": {"Fri, 01 Jan 2100 00:00:00 GMT", at(4 * time.Second), 4 * time.Second},
		"a Retry-After far from all": {at(0), "Sun, 01 Jan 2090 00:00:00 GMT", 365 * 24 * time.Hour},
	} {
		for _, status := range []int{503, 429} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					refused := raw(status, "", "Date: "+test.date, "Retry-After: "+test.retryAfter)
					client, _ := answers(t, refused)
					var e *fiscope.Error
					require.ErrorAs(t, operations["validar"](t.Context(), client), &e)
					assert.Equal(t, test.asks, e.RetryAfter, "what it says is what is waited")

					client, _ = answers(t, refused, raw(200, record))
					start := time.Now()
					err := operations["consultar"](t.Context(), client)
					if test.asks > 10*time.Second {
						require.Error(t, err)
						assert.Zero(t, time.Since(start))
					} else {
						require.NoError(t, err)
						assert.GreaterOrEqual(t, time.Since(start), test.asks)
						assert.LessOrEqual(t, time.Since(start), test.asks+250*time.Millisecond)
					}
				})
			})
		}
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

// The wait has a random part, and the whole of it must fit: it is drawn from an hour, for a second.
func TestTheDeadlineIsComparedWithTheWaitThatIsDrawn(t *testing.T) {
	p := fiscope.DefaultRetryPolicy()
	p.Base, p.Cap = time.Hour, time.Hour
	for _, header := range []string{"", "Retry-After: 1"} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := 0
				for range 30 {
					s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "", header)}}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					start := time.Now()
					err := operations["consultar"](ctx, newClient(t, s, fiscope.WithRetry(p)))
					cancel()
					require.ErrorIs(t, err, fiscope.ErrUnavailable)
					require.NotErrorIs(t, err, context.DeadlineExceeded, "a wait that cannot end is not begun")
					if time.Since(start) == 0 {
						ended++
					}
				}
				assert.Greater(t, ended, 25)
			})
		})
	}
}

func TestTheWaitIsJitteredOnTopOfRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 50 {
			client, _ := answers(t, raw(503, "", "Retry-After: 3"), raw(200, record))
			start := time.Now()
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.GreaterOrEqual(t, time.Since(start), 3*time.Second, "never sooner than asked for")
			seen[time.Since(start)] = true
		}
		assert.Greater(t, len(seen), 40, "all who were told the same do not come back together")
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

// outage counts the retries that a client makes when everything fails: what is left of its budget.
func outage(t *testing.T, client *fiscope.Client, s *service) (retries int) {
	s.mu.Lock()
	s.answers, s.requests = []func(*http.Request) (*http.Response, error){raw(503, "")}, nil
	s.mu.Unlock()
	for range 50 {
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
	}
	return len(s.seen()) - 50
}

func TestTheBudgetPaysOnlyForRetriesThatAreMade(t *testing.T) {
	busy := raw(503, "", "Retry-After: 5")
	for name, call := range map[string]func(t *testing.T, client *fiscope.Client, s *service){
		"cancelled in the wait": func(t *testing.T, client *fiscope.Client, _ *service) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			require.ErrorIs(t, operations["consultar"](ctx, client), context.Canceled)
		},
		"a wait that is too long": func(t *testing.T, client *fiscope.Client, _ *service) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, operations["consultar"](ctx, client), fiscope.ErrUnavailable)
		},
		"a validation": func(t *testing.T, client *fiscope.Client, _ *service) {
			require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrUnavailable)
		},
		"a retry that the quota keeps": func(t *testing.T, client *fiscope.Client, s *service) {
			s.mu.Lock()
			s.answers = []func(*http.Request) (*http.Response, error){raw(503, "", "Retry-After: 5",
				"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339))}
			s.mu.Unlock()
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
			time.Sleep(2 * time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, busy)
				for range 30 {
					call(t, client, s)
				}
				assert.Equal(t, 10, outage(t, client, s))
			})
		})
	}
	t.Run("what was sent is paid for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, busy)
			for range 3 { // the second wait is cancelled
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(7*time.Second, cancel)
				require.ErrorIs(t, operations["consultar"](ctx, client), context.Canceled)
			}
			assert.Len(t, s.seen(), 6)
			assert.Equal(t, 7, outage(t, client, s))
		})
	})
}

func TestSuccessesSaveUpNoMoreThanTheBudgetHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(200, record))
		succeed := func(n int) {
			s.mu.Lock()
			s.answers = []func(*http.Request) (*http.Response, error){raw(200, record)}
			s.mu.Unlock()
			for range n {
				require.NoError(t, operations["consultar"](t.Context(), client))
			}
		}
		succeed(1000)
		assert.Equal(t, 10, outage(t, client, s))
		succeed(9)
		assert.Equal(t, 0, outage(t, client, s))
		succeed(1)
		assert.Equal(t, 1, outage(t, client, s), "ten make one")
		succeed(1000)
		assert.Equal(t, 10, outage(t, client, s))
	})
}

// A retry belongs to one call from the beginning of its wait: nobody waits for one that another takes.
func TestTheLastRetryIsPromisedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fiscope.DefaultRetryPolicy()
		p.MaxRetries = 1
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "", "Retry-After: 5")}}
		client := newClient(t, s, fiscope.WithRetry(p))
		start := time.Now()
		var at, later atomic.Int64
		var wg sync.WaitGroup
		for range 25 {
			wg.Go(func() {
				assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
				if time.Since(start) == 0 {
					at.Add(1)
				} else {
					later.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 15, at.Load(), "whoever gets none ends at once, with the service's error")
		assert.EqualValues(t, 10, later.Load())
		assert.Len(t, s.seen(), 35, "whoever waits sends")
	})
}

func TestDeliveryIsThatOfAllAttempts(t *testing.T) {
	refused := func(r *http.Request) (*http.Response, error) { // a transport that tells of its connections
		httptrace.ContextClientTrace(r.Context()).GetConn("x")
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	for name, test := range map[string]struct {
		answers  []func(*http.Request) (*http.Response, error)
		delivery fiscope.Delivery
	}{
		"unsent":                       {[]func(*http.Request) (*http.Response, error){refused}, fiscope.DeliveryNotSent},
		"lost, then unsent":            {[]func(*http.Request) (*http.Response, error){broken(io.EOF), refused}, fiscope.DeliveryUnknown},
		"unsent, then lost":            {[]func(*http.Request) (*http.Response, error){refused, broken(io.EOF)}, fiscope.DeliveryUnknown},
		"answered by 503, then unsent": {[]func(*http.Request) (*http.Response, error){raw(503, ""), refused}, fiscope.DeliveryUnknown},
		"unsent, then answered by 503": {[]func(*http.Request) (*http.Response, error){refused, refused, raw(503, "")}, fiscope.DeliveryAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := answers(t, test.answers...)
				var e *fiscope.Error
				require.ErrorAs(t, operations["consultar"](t.Context(), client), &e)
				assert.Equal(t, 3, e.Attempts)
				assert.Equal(t, test.delivery, e.Delivery)
			})
		})
	}
}

// An attempt that ran out of time on a connection may still be writing.
func TestATimedOutAttemptIsUnsentOnlyWithoutAConnection(t *testing.T) {
	p := fiscope.DefaultRetryPolicy()
	p.RetryUnsentPOST = true
	for name, test := range map[string]struct {
		connected bool
		attempts  int
		delivery  fiscope.Delivery
	}{
		"with a connection": {true, 1, fiscope.DeliveryUnknown},
		"without one":       {false, 3, fiscope.DeliveryNotSent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := roundTripper(func(r *http.Request) (*http.Response, error) {
					trace := httptrace.ContextClientTrace(r.Context())
					trace.GetConn("x")
					if test.connected {
						trace.GotConn(httptrace.GotConnInfo{})
					}
					return hangs(r)
				})
				client := newClient(t, rt, fiscope.WithRetry(p))
				var e *fiscope.Error
				require.ErrorAs(t, operations["validar"](t.Context(), client), &e)
				assert.Equal(t, test.attempts, e.Attempts)
				assert.Equal(t, test.delivery, e.Delivery)
				sent := map[fiscope.Delivery]int64{fiscope.DeliveryUnknown: 1, fiscope.DeliveryNotSent: 0}[test.delivery]
				assert.Equal(t, sent, client.Stats().Sent)
			})
		})
	}
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
