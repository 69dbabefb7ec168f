package fiscope_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestWhatAGETTriesAgain(t *testing.T) {
	breaks := func(err error) handler {
		return with(200, io.NopCloser(io.MultiReader(strings.NewReader(`{"ruc":`), errReader{err})))
	}
	for name, test := range map[string]struct {
		first    handler
		attempts int
	}{
		"502":                        {raw(502, ""), 2},
		"503":                        {raw(503, ""), 2},
		"504":                        {raw(504, ""), 2},
		"500":                        {raw(500, ""), 2},
		"connection reset":           {broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), 2},
		"a name that does not exist": {broken(&net.DNSError{Err: "no such host", IsNotFound: true}), 2},
		"... as Windows says it":     {broken(&net.DNSError{Err: "getaddrinfow: No such host is known."}), 2},
		"an answer that broke off":   {breaks(io.ErrUnexpectedEOF), 2},
		"an answer that is no gzip":  {breaks(gzip.ErrHeader), 1},
		"429 without a Retry-After":  {raw(429, ""), 1},
		"429 with a short one":       {raw(429, "", "Retry-After: 1"), 2},
		"429 with an invalid one":    {raw(429, "", "Retry-After: 1.2.3"), 1},
		"429 with a long one":        {raw(429, "", "Retry-After: 11"), 1},
		"503 with a long one":        {raw(503, "", "Retry-After: 3600"), 1},
		"501":                        {raw(501, ""), 1},
		"400":                        {raw(400, ""), 1},
		"401":                        {raw(401, ""), 1},
		"403":                        {raw(403, ""), 1},
		"404":                        {raw(404, contract(t, "consultar_404.json")), 1},
		"408":                        {raw(408, ""), 1},
		"301":                        {raw(301, ""), 1},
		"a malformed 200":            {raw(200, "<html>"), 1},
	} {
		inBubble(t, name, func(t *testing.T) {
			client, s := answers(t, test.first, raw(200, record))
			var resp fiscope.Response
			err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
			assert.Equal(t, test.attempts == 2, err == nil, err)
			assert.Len(t, s.seen(), test.attempts)
			assert.Equal(t, test.attempts, resp.Attempts)
		})
	}
}

func TestAWaitThatMayOutlastTheDeadlineIsNotBegun(t *testing.T) {
	long := fiscope.RetryPolicy{}
	long.Base, long.Cap = time.Hour, time.Hour
	for header, p := range map[string]fiscope.RetryPolicy{"Retry-After: 5": {}, "X: y": long} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []handler{raw(503, "", header)}}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			start := time.Now()
			err := operations["consultar"](ctx, newClient(t, s, fiscope.WithRetry(p)))
			assert.Zero(t, time.Since(start), header)
			require.ErrorIs(t, err, fiscope.ErrUnavailable)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.Len(t, s.seen(), 1)
		})
	}
}

func TestTheWaitsAreJittered(t *testing.T) {
	for header, least := range map[string]time.Duration{"X: y": 0, "Retry-After: 3": 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			for range 50 {
				client, _ := answers(t, raw(503, "", header), raw(200, record))
				start := time.Now()
				require.NoError(t, operations["consultar"](t.Context(), client))
				assert.GreaterOrEqual(t, time.Since(start), least, "never sooner than asked for")
				seen[time.Since(start)] = true
			}
			assert.Greater(t, len(seen), 40, "clients with the same Retry-After do not come back together")
		})
	}
}

func TestInARetryPolicyZeroIsTheDefaultAndNegativeIsNever(t *testing.T) {
	busy := raw(429, "", "Retry-After: 5")
	for name, test := range map[string]struct {
		option   fiscope.Option
		answer   handler
		attempts int
		atMost   time.Duration // of waiting
	}{
		"zero":                       {fiscope.WithRetry(fiscope.RetryPolicy{}), raw(503, ""), 3, 750 * time.Millisecond},
		"no retries":                 {fiscope.WithMaxRetries(0), raw(503, ""), 1, 0},
		"no wait":                    {fiscope.WithRetry(fiscope.RetryPolicy{Base: -1}), raw(503, ""), 3, 0},
		"... nor a longer one":       {fiscope.WithRetry(fiscope.RetryPolicy{Cap: -1}), raw(503, ""), 3, 0},
		"a long wait":                {fiscope.WithRetry(fiscope.RetryPolicy{Base: time.Hour}), raw(503, ""), 3, 2 * time.Hour},
		"a Retry-After":              {fiscope.WithRetry(fiscope.RetryPolicy{}), busy, 3, 10750 * time.Millisecond},
		"... that is not waited for": {fiscope.WithRetry(fiscope.RetryPolicy{MaxRetryAfter: -1}), busy, 1, 0},
		"the number alone":           {fiscope.WithMaxRetries(3), raw(503, ""), 4, 1750 * time.Millisecond},
		"none":                       {fiscope.WithMaxRetries(0), raw(503, ""), 1, 0},
		"a 500, once":                {fiscope.WithRetry(fiscope.RetryPolicy{}), raw(500, ""), 2, 250 * time.Millisecond},
	} {
		inBubble(t, name, func(t *testing.T) {
			s, start := &service{answers: []handler{test.answer}}, time.Now()
			require.Error(t, operations["consultar"](t.Context(), newClient(t, s, test.option)))
			assert.Len(t, s.seen(), test.attempts)
			assert.LessOrEqual(t, time.Since(start), test.atMost)
		})
	}
}

func TestATimeoutIsRepeatedOnce(t *testing.T) {
	inItsBody := func(r *http.Request) (*http.Response, error) {
		return with(200, &body{read: func() error { return second(hangs(r)) }})(r)
	}
	for name, test := range map[string]struct {
		answers  []handler
		attempts int
	}{
		"alone":                   {[]handler{hangs}, 2},
		"in its body":             {[]handler{inItsBody}, 2},
		"among other failures":    {[]handler{raw(503, ""), hangs, raw(503, ""), inItsBody, raw(503, "")}, 4},
		"others are as before it": {[]handler{hangs, raw(503, "")}, 6},
	} {
		inBubble(t, name, func(t *testing.T) {
			client, s := answers(t, test.answers...)
			require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithMaxRetries(5)), fiscope.ErrUnavailable)
			assert.Len(t, s.seen(), test.attempts)
		})
	}
}

func TestAnOutageIsNotAmplified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(503, ""))
		for range 1000 {
			require.Error(t, operations["consultar"](t.Context(), client))
		}
		assert.Len(t, s.seen(), 1011, "one retry and ten more for the whole outage")
	})
}

// One attempt in five fails, and each next one is answered, be it that nobody has that RUC.
func TestAFlakyServiceLosesNoCall(t *testing.T) {
	for _, answer := range []handler{raw(200, record), raw(404, contract(t, "consultar_404.json"))} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
				if requests++; requests%5 == 0 {
					return raw(503, "")(r)
				}
				return answer(r)
			}))
			for range 500 {
				assert.NotErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
			}
		})
	}
}

// unsent is a transport that reports a refused connection.
func unsent(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GetConn("x")
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

func TestDeliveryIsThatOfAllAttempts(t *testing.T) {
	for first, want := range map[*handler]fiscope.Delivery{
		new(refusesToDial):  fiscope.DeliveryNotSent,
		new(broken(io.EOF)): fiscope.DeliveryUnknown,
		new(raw(503, "")):   fiscope.DeliveryUnknown,
	} {
		synctest.Test(t, func(t *testing.T) {
			var w watch
			client := newClient(t, &service{answers: []handler{*first, refusesToDial}}, append(w.options(), fiscope.WithMaxRetries(1))...)
			var e *fiscope.Error
			require.ErrorAs(t, operations["consultar"](t.Context(), client), &e)
			require.ErrorContains(t, e, "; 2 attempts")
			assert.Equal(t, want, e.Delivery)
			events, _ := w.seen()
			assert.Equal(t, fiscope.DeliveryNotSent, events[1].Delivery, "of its attempt alone")
		})
	}
}

func TestAnUnsentValidationIsRepeatedOnlyIfAsked(t *testing.T) {
	p := fiscope.RetryPolicy{}
	p.RetryUnsentPOST = true
	asked := []fiscope.Option{fiscope.WithRetry(p)}
	connected := func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
		return hangs(r)
	}
	for name, test := range map[string]struct {
		opts     []fiscope.Option
		answer   handler
		attempts int
		delivery fiscope.Delivery
	}{
		"not by default":         {nil, unsent, 1, fiscope.DeliveryNotSent},
		"if asked":               {asked, unsent, 3, fiscope.DeliveryNotSent},
		"not if it may be sent":  {asked, connected, 1, fiscope.DeliveryUnknown},
		"not if nobody can say":  {asked, broken(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 1, fiscope.DeliveryUnknown},
		"not if it was answered": {asked, raw(503, ""), 1, fiscope.DeliveryAnswered},
	} {
		inBubble(t, name, func(t *testing.T) {
			client := newClient(t, test.answer, test.opts...)
			var e *fiscope.Error
			require.ErrorAs(t, operations["validar"](t.Context(), client), &e)
			assert.Equal(t, test.attempts, e.Attempts)
			assert.Equal(t, test.delivery, e.Delivery)
			assert.Equal(t, test.delivery == fiscope.DeliveryNotSent, client.Stats().Sent == 0)
		})
	}
}

func TestAContextThatEndsDuringAWaitEndsTheCallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		client, s := answers(t, raw(503, `{"error":"mantenimiento"}`, "Retry-After: 5"))
		start := time.Now()
		err := operations["consultar"](ctx, client)
		assert.Equal(t, time.Second, time.Since(start))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, fiscope.ErrUnavailable, "and the class of the last answer")
		assert.ErrorContains(t, err, "HTTP 503")
		assert.Len(t, s.seen(), 1)
	})
}
