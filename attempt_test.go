package fiscope_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// body is an answer's body that does what a test sets, and counts how often it is closed.
type body struct {
	read, close func() error // nil for nothing
	text        io.Reader    // what is read where read brings no error; nil for spaces
	closes      atomic.Int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.read != nil {
		if err := b.read(); err != nil {
			return 0, err
		}
	}
	if b.text != nil {
		return b.text.Read(p)
	}
	p[0] = ' '
	return 1, nil
}

func (b *body) Close() error {
	b.closes.Add(1)
	if b.close != nil {
		return b.close()
	}
	return nil
}

// with is an answer with that status, body and headers.
func with(status int, b io.ReadCloser, headers ...string) handler {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := raw(status, "", headers...)(r)
		resp.Body, resp.ContentLength = b, -1
		return resp, err
	}
}

func TestABodyEndsWithItsAttempt(t *testing.T) {
	for end, test := range map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		took time.Duration
		is   error
		own  bool // the caller's own doing, which says nothing about the service
	}{
		"its timeout": {context.WithCancel, 20 * time.Second, context.DeadlineExceeded, false},
		"the deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Second, context.DeadlineExceeded, false},
		"a cancelled context": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, time.Second, context.Canceled, true},
	} {
		for op, text := range map[string]string{"consultar": record, "validar": verdict} {
			inBubble(t, end+"/"+op, func(t *testing.T) { // which fails if a goroutine is left at its end
				closed := make(chan struct{})
				b := &body{read: func() error { <-closed; return io.ErrUnexpectedEOF }, close: func() error { close(closed); return nil }}
				s := &service{answers: []handler{with(200, b), raw(200, text)}}
				client := newClient(t, s, fiscope.WithMaxRetries(0), fiscope.WithTimeout(20*time.Second), fiscope.WithCPETimeout(20*time.Second))
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				start := time.Now()
				err := operations[op](ctx, client)
				assert.Equal(t, test.took, time.Since(start))
				require.ErrorIs(t, err, test.is)
				assert.Equal(t, test.own, len(classes(err)) == 0, "%v", err)

				free := time.Duration(0)
				if op == "validar" { // the attempt of an unproven clave outlives its caller
					free = 20*time.Second - test.took
				}
				start = time.Now()
				require.NoError(t, operations[op](t.Context(), client), "the turn of the clave is free")
				assert.Equal(t, free, time.Since(start))
				assert.EqualValues(t, 1, b.closes.Load())
			})
		}
	}
}

func TestACallerWhoLeavesInTheBodySaysNothingAboutTheService(t *testing.T) {
	closing := errors.New("the shop is closing")
	ctx, cancel := context.WithCancelCause(t.Context())
	client, _ := answers(t, with(200, &body{read: func() error { cancel(closing); return closing }})) // as net/http says it
	err := operations["consultar"](ctx, client)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, closing)
	assert.Empty(t, classes(err))
}

func TestAnAnswerThatBreaksOffIsUnavailable(t *testing.T) {
	for status, cut := range map[int]string{200: `{"codigo":`, 500: "la clave es " + clave[:len(clave)-1]} {
		client, _ := answers(t, with(status, io.NopCloser(io.MultiReader(strings.NewReader(cut), errReader{io.ErrUnexpectedEOF}))))
		err := operations["validar"](t.Context(), client)
		assert.Equal(t, []string{"ErrUnavailable"}, classes(err))
		assert.Equal(t, status == 200, errors.Is(err, io.ErrUnexpectedEOF))
		assert.False(t, strings.Contains(err.Error(), clave[:4]), "a cut text is shown, with a part of the clave")
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryAnswered, e.Delivery)
	}
}

func TestATransportThatBreaksTheRules(t *testing.T) {
	for name, answer := range map[string]handler{
		"neither response nor error": broken(nil),
		"both": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK}, errors.New("tls: bad certificate")
		},
	} {
		client := newClient(t, answer, fiscope.WithMaxRetries(0))
		assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable, name)
	}
	client, s := answers(t, broken(nil))
	require.Error(t, operations["consultar"](t.Context(), client))
	assert.Len(t, s.seen(), 1, "it is not asked again")
	client = newClient(t, handler(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(record))}, nil
	}))
	require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(new(fiscope.Response))), "without headers")
}

func TestOurTransportBoundsTheHeaders(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		_, _ = io.WriteString(w, record)
	}))
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey, fiscope.WithMaxRetries(0))
	require.NoError(t, err)
	defer func() { _ = client.Close(context.Background()) }()
	require.ErrorContains(t, operations["consultar"](t.Context(), client), "headers exceeded 1048576 bytes")
}

func TestAReasonIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the shop is closing")) })
		client := newClient(t, broken(errors.New("no route")), fiscope.WithRateLimit(0.1, 1))
		err := operations["consultar"](ctx, client)
		assert.Regexp(t, `no route.*context canceled.*the shop is closing`, err.Error())
		assert.NotRegexp(t, `shop.*shop|canceled.*canceled`, err.Error())
	})
}

// hangs is a service that never answers.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestEachAttemptHasItsTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		op       string
		bound    time.Duration // of the caller's http.Client
		attempts int
		took     time.Duration
	}{
		"a GET":                     {"consultar", 0, 2, 20 * time.Second},
		"a validation":              {"validar", 0, 1, 30 * time.Second},
		"a shorter one of a caller": {"validar", time.Second, 1, time.Second},
		"a longer one of a caller":  {"validar", time.Minute, 1, 30 * time.Second},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := &service{answers: []handler{hangs}}
			client := newClient(t, nil, fiscope.WithHTTPClient(&http.Client{Transport: s, Timeout: test.bound}))
			start := time.Now()
			err := operations[test.op](t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrUnavailable)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Len(t, s.seen(), test.attempts)
			assert.InDelta(t, test.took, time.Since(start), float64(time.Second))
		})
	}
}

func TestACancelledContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	closing := errors.New("the shop is closing")
	cancel(closing)
	client, s := answers(t, raw(200, record))
	for name, do := range operations {
		err := do(ctx, client)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, closing, name)
		assert.Empty(t, classes(err), "it says nothing about the service")
		assert.ErrorContains(t, err, "nothing was sent")
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	assert.Equal(t, "deadline_exceeded", fiscope.ErrorClass(operations["consultar"](ctx, client)), "the cause says more")
	assert.Empty(t, s.seen())
}

// serve returns the URL of a server on a real socket.
func serve(t *testing.T, h http.HandlerFunc) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// clientOf returns a client of a server with a transport of its own.
func clientOf(t *testing.T, url string, opts ...fiscope.Option) *fiscope.Client {
	client, err := fiscope.NewClient(url, apiKey, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
	return client
}

// Over real sockets, since it is net/http that forwards X-API-KEY to any host, and repeats the body
// after a 307 or 308.
func TestNoRedirectCarriesTheKeyAway(t *testing.T) {
	var stolen atomic.Int64
	thief := serve(t, func(http.ResponseWriter, *http.Request) { stolen.Add(1) })
	for name, location := range map[string]string{
		"another port": thief + "/api", "another host": strings.Replace(thief, "127.0.0.1", "localhost", 1),
		"no scheme": strings.TrimPrefix(thief, "http:"), "the same": "/api/tipocambio",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			var requests atomic.Int64
			client := clientOf(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			}))
			for _, op := range []string{"consultar", "validar"} {
				require.ErrorIs(t, operations[op](t.Context(), client), fiscope.ErrRedirect, "%s %d", name, status)
			}
			assert.EqualValues(t, 2, requests.Load(), "%s %d", name, status)
		}
	}
	assert.Zero(t, stolen.Load(), "the key went to another server")
}

// A proxy for plain http reads everything. Over real sockets, since it is net/http that asks for it.
func TestRequestsToThisMachineBypassProxies(t *testing.T) {
	var stolen atomic.Int64
	proxy, err := url.Parse(serve(t, func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	require.NoError(t, err)
	asks := &http.Transport{Proxy: http.ProxyURL(proxy)}
	ours := fiscope.WithHTTPClient(&http.Client{Transport: asks})
	here := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, record) })
	for _, baseURL := range []string{here, strings.ToUpper(strings.Replace(here, "127.0.0.1", "localhost", 1))} {
		require.NoError(t, operations["consultar"](t.Context(), clientOf(t, baseURL, ours)), baseURL)
	}
	of := http.DefaultTransport
	http.DefaultTransport = asks
	defer func() { http.DefaultTransport = of }()
	require.NoError(t, operations["consultar"](t.Context(), clientOf(t, here)), "a transport of our own")
	assert.Zero(t, stolen.Load())
	assert.NotNil(t, asks.Proxy, "the caller's transport is not changed")

	_ = operations["consultar"](t.Context(), clientOf(t, here, ours, fiscope.WithInsecureHTTP()))
	assert.EqualValues(t, 1, stolen.Load(), "WithInsecureHTTP leaves it to the caller")
}

// net/http repeats a request by itself whose body it can make anew: after a kept connection breaks, or an HTTP/2 server
// refuses the stream. A validation must leave once.
func TestAValidationIsNotReplayedByNetHTTP(t *testing.T) {
	var requests atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == 2 {
			hangUp(t, w)
			return
		}
		_, _ = io.WriteString(w, verdict)
	})
	real := new(http.Transport)
	t.Cleanup(real.CloseIdleConnections)
	client := clientOf(t, url, fiscope.WithHTTPClient(&http.Client{Transport: handler(func(r *http.Request) (*http.Response, error) {
		assert.True(t, r.Body != nil && r.GetBody == nil, "the body could be made anew")
		assert.Empty(t, r.Header.Values("Idempotency-Key"), "it would let net/http repeat a POST")
		return real.RoundTrip(r)
	})}))
	require.NoError(t, operations["validar"](t.Context(), client))
	err := operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	assert.ErrorContains(t, err, "the service may have received it")
	assert.EqualValues(t, 2, requests.Load())
}

// hangUp closes the connection of a request without an answer.
func hangUp(t *testing.T, w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if assert.NoError(t, err) {
		_ = conn.Close()
	}
}

// wire is one end of a connection in memory. Once it is cut, what is written is lost and nobody is told.
type wire struct {
	net.Conn
	cut *atomic.Bool
}

func (w wire) Write(p []byte) (int, error) {
	if w.cut.Load() {
		return len(p), nil
	}
	return w.Conn.Write(p)
}

// wires are a listener whose connections stay in memory, so that a test may wait.
type wires struct {
	net.Listener // not used
	accepted     chan net.Conn
	dialed       []*atomic.Bool
}

func (w *wires) Accept() (net.Conn, error) {
	conn, open := <-w.accepted
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (w *wires) Close() error { close(w.accepted); return nil }

func (w *wires) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	cut := new(atomic.Bool)
	w.dialed = append(w.dialed, cut)
	w.accepted <- wire{there, cut}
	return wire{here, cut}, nil
}

// After a sleep, a NAT's timeout or a change of network the connection is there, and nothing passes.
func TestADeadHTTP2ConnectionIsLeft(t *testing.T) {
	of := http.DefaultTransport
	defer func() { http.DefaultTransport = of }()
	withCertificate := httptest.NewTLSServer(nil)
	defer withCertificate.Close()
	trusted := withCertificate.Client().Transport.(*http.Transport).TLSClientConfig

	for op, text := range map[string]string{"consultar": record, "validar": verdict} {
		for name, opts := range map[string][]fiscope.Option{
			"by default": nil, "with a timeout": {fiscope.WithHTTPClient(&http.Client{Timeout: time.Minute})},
		} {
			inBubble(t, op+"/"+name, func(t *testing.T) {
				network := &wires{accepted: make(chan net.Conn)}
				srv := http.Server{
					TLSConfig: &tls.Config{Certificates: withCertificate.TLS.Certificates, SessionTicketsDisabled: true},
					Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						assert.Equal(t, "HTTP/2.0", r.Proto)
						_, _ = io.WriteString(w, text)
					}),
				}
				go func() { _ = srv.ServeTLS(network, "", "") }()
				defer srv.Close()
				http.DefaultTransport = &http.Transport{DialContext: network.dial, TLSClientConfig: trusted, ForceAttemptHTTP2: true}
				client, err := fiscope.NewClient("https://example.com", apiKey, opts...)
				require.NoError(t, err)
				closeWith(t, client)

				require.NoError(t, operations[op](t.Context(), client))
				network.dialed[0].Store(true)
				time.Sleep(25 * time.Second)
				start := time.Now()
				require.NoError(t, operations[op](t.Context(), client))
				assert.Zero(t, time.Since(start))
				assert.Len(t, network.dialed, 2)
			})
		}
	}
}

// The server has the whole request, and answers GOAWAY: it took no stream. net/http then says how to let it repeat the
// request, which nobody may.
func TestAGOAWAYAfterTheBodyIsAClosedConnection(t *testing.T) {
	withCertificate := httptest.NewTLSServer(nil)
	defer withCertificate.Close()
	serve := func(conn net.Conn) {
		server := tls.Server(conn, &tls.Config{Certificates: withCertificate.TLS.Certificates, NextProtos: []string{"h2"}, SessionTicketsDisabled: true})
		_, _ = io.CopyN(io.Discard, server, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
		_, _ = server.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}) // SETTINGS
		var head [9]byte                                       // length, type, flags, stream
		for head[3] != 0 || head[4] != 1 {                     // until DATA that ends its stream
			if _, err := io.ReadFull(server, head[:]); err != nil {
				return
			}
			_, _ = io.CopyN(io.Discard, server, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		}
		go func() { _, _ = io.Copy(io.Discard, server) }()
		_, _ = server.Write([]byte{0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // GOAWAY: no stream, no error
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   withCertificate.Client().Transport.(*http.Transport).TLSClientConfig,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go serve(there)
			return here, nil
		},
	}
	client, err := fiscope.NewClient("https://example.com", apiKey, fiscope.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	closeWith(t, client)
	err = operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	require.ErrorContains(t, err, "the service closed the connection")
	assert.NotContains(t, err.Error(), "GetBody")
}

func TestThePathOfTheBaseURLStaysEscaped(t *testing.T) {
	var asked []string
	client, err := fiscope.NewClient("https://api.example.com/a%2Fb", apiKey, fiscope.WithHTTPClient(&http.Client{Transport: handler(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.EscapedPath())
		return raw(200, record)(r)
	})}))
	require.NoError(t, err)
	require.NoError(t, operations["consultar"](t.Context(), client))
	assert.Equal(t, []string{"/a%2Fb/api/contribuyentes/" + rucSUNAT}, asked)
}
