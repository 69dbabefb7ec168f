package fiscope_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// body is an answer's body that does what a test tells it to, and counts how often it is closed.
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

// A body that reports its end because it was closed was cut: nothing of it is whole, and nothing of it that
// may be the beginning of a secret is shown.
func TestABodyThatEndsByItsCloseWasCut(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		text   string
		end    func(context.Context) (context.Context, context.CancelFunc)
		is     error
	}{
		"a record, its timeout":    {200, record, context.WithCancel, fiscope.ErrUnavailable},
		"a part of one":            {200, `{"ruc":`, context.WithCancel, fiscope.ErrUnavailable},
		"a record, the deadline":   {200, record, inASecond, context.DeadlineExceeded},
		"NOT_FOUND, the deadline":  {404, `{"code":"NOT_FOUND"}`, inASecond, context.DeadlineExceeded},
		"a refusal, with a secret": {500, "dice " + clave[:len(clave)-1], context.WithCancel, fiscope.ErrUnavailable},
	} {
		for _, op := range []string{"consultar", "validar"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					closed := make(chan struct{})
					text := strings.NewReader(test.text)
					b := &body{close: func() error { close(closed); return nil }}
					b.read = func() error {
						if text.Len() == 0 {
							<-closed
							return io.EOF
						}
						return nil
					}
					b.text = text
					client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){with(test.status, b)}}, fiscope.WithRetry(noRetries()))
					ctx, cancel := test.end(t.Context())
					defer cancel()
					err := operations[op](ctx, client)
					require.ErrorIs(t, err, test.is)
					require.NotErrorIs(t, err, fiscope.ErrMalformedResponse)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.NotContains(t, err.Error()+string(e.Body()), clave[:4])
				})
			})
		}
	}
}

func inASecond(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Second)
}

// The last bytes and the end may come together.
func TestTheLimitHoldsToTheByte(t *testing.T) {
	for _, extra := range []int64{0, 1} {
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return with(200, io.NopCloser(iotest.DataErrReader(strings.NewReader(record))))(r)
		}), fiscope.WithMaxResponseBytes(int64(len(record))-extra))
		err := operations["consultar"](t.Context(), client)
		if extra == 0 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
	}
}

// with is an answer with that status, body and headers.
func with(status int, b io.ReadCloser, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := raw(status, "", headers...)(r)
		resp.Body, resp.ContentLength = b, -1
		return resp, err
	}
}

func TestABodyEndsWithItsAttempt(t *testing.T) {
	blocks := func(until <-chan struct{}) func() error {
		return func() error { <-until; return io.ErrUnexpectedEOF }
	}
	bodies := map[string]func(release chan struct{}) (int, *body){
		"one that only Close releases": func(chan struct{}) (int, *body) {
			closed := make(chan struct{})
			return 200, &body{read: blocks(closed), close: func() error { close(closed); return nil }}
		},
		"one that goes on after Close": func(release chan struct{}) (int, *body) {
			return 200, &body{read: blocks(release)}
		},
		"one whose Close blocks too": func(release chan struct{}) (int, *body) {
			return 200, &body{read: blocks(release), close: blocks(release)}
		},
		"one whose Close panics": func(release chan struct{}) (int, *body) {
			return 200, &body{read: blocks(release), close: func() error { panic("closed") }}
		},
		"one that trickles in for ever": func(chan struct{}) (int, *body) {
			return 200, &body{read: func() error { time.Sleep(300 * time.Millisecond); return nil }}
		},
		"of a 101": func(release chan struct{}) (int, *body) { return 101, &body{read: blocks(release)} },
		"of a 403": func(release chan struct{}) (int, *body) { return 403, &body{read: blocks(release)} },
		"of a 503": func(release chan struct{}) (int, *body) { return 503, &body{read: blocks(release)} },
	}
	ends := map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		took time.Duration
		is   error
	}{
		"its timeout": {func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }, 20 * time.Second, fiscope.ErrUnavailable},
		"the deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Second, context.DeadlineExceeded},
		"a cancelled context": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*time.Second, cancel)
			return ctx, cancel
		}, 2 * time.Second, context.Canceled},
	}
	for name, stuck := range bodies {
		for end, test := range ends {
			for _, op := range []string{"consultar", "validar"} {
				t.Run(name+"/"+end+"/"+op, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left at its end
						release := make(chan struct{})
						status, b := stuck(release)
						lastQuery := []string{"X-RateLimit-Remaining: 1", "X-RateLimit-Reset: " + inAnHour()}
						s := &service{answers: []func(*http.Request) (*http.Response, error){
							raw(200, record, lastQuery...), with(status, b), raw(200, map[string]string{"consultar": record, "validar": verdict}[op]),
						}}
						client := newClient(t, s, fiscope.WithRetry(noRetries()), fiscope.WithTimeout(20*time.Second, 20*time.Second))
						require.NoError(t, operations["consultar"](t.Context(), client))

						ctx, cancel := test.ctx(t.Context())
						defer cancel()
						start := time.Now()
						err := operations[op](ctx, client)
						assert.Equal(t, test.took, time.Since(start))
						require.ErrorIs(t, err, test.is)
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)

						free := time.Duration(0)
						if op == "validar" { // the attempt of an unproven clave outlives its caller
							free = 20*time.Second - test.took
						}
						start = time.Now()
						require.NoError(t, operations[op](t.Context(), client), "the quota's slot and the turn of the clave are free")
						assert.Equal(t, free, time.Since(start))
						close(release)
						time.Sleep(time.Second)
						assert.EqualValues(t, 1, b.closes.Load())
					})
				})
			}
		}
	}
}

func TestAConnectionThatIsHandedOverEndsWithItsAttempt(t *testing.T) {
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		defer close(gone)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey, fiscope.WithRetry(noRetries()), fiscope.WithTimeout(100*time.Millisecond, time.Hour))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	require.ErrorIs(t, operations["consultar"](t.Context(), client), context.DeadlineExceeded)
	<-gone // its connection is closed
}

// The cause of a context's end, which net/http returns for it, can be any error.
func TestABodyThatEndsWithItsContextIsNoBrokenAnswer(t *testing.T) {
	closing := errors.New("the till is closing")
	ctx, cancel := context.WithCancelCause(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"ruc":`)
		_ = http.NewResponseController(w).Flush()
		time.AfterFunc(20*time.Millisecond, func() { cancel(closing) })
		<-r.Context().Done()
	}))
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	err = operations["consultar"](ctx, client)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, closing)
	assert.Empty(t, classes(err))
}

func TestAnAnswerInHandIsNotLostToItsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		client, _ := answers(t, with(200, &body{text: strings.NewReader(record), close: func() error { <-release; return nil }}))
		require.NoError(t, operations["consultar"](t.Context(), client))
		close(release)
	})
}

func TestABodyThatBringsNothingEnds(t *testing.T) {
	client, _ := answers(t, with(200, &body{text: nothing{}}))
	err := operations["consultar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
	require.ErrorIs(t, err, io.ErrNoProgress)
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestEveryBodyIsClosedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		text    string
		breaks  error
		headers []string
		opts    []fiscope.Option
	}{
		"a whole answer":       {status: 200, text: record},
		"one that broke off":   {status: 200, text: record[:9], breaks: io.ErrUnexpectedEOF},
		"one that is too long": {status: 200, text: record, opts: []fiscope.Option{fiscope.WithMaxResponseBytes(100)}},
		"a 404":                {status: 404, text: contract(t, "consultar_404.json")},
		"a 503":                {status: 503},
		"a redirect":           {status: 302},
		"a 101":                {status: 101},
		"long headers":         {status: 200, text: record, headers: []string{"X-Long: " + strings.Repeat("x", 1<<20)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []*body
				rt := roundTripper(func(r *http.Request) (*http.Response, error) {
					b := &body{text: io.MultiReader(strings.NewReader(test.text), errReader{test.breaks})}
					if test.breaks == nil {
						b.text = strings.NewReader(test.text)
					}
					bodies = append(bodies, b)
					return with(test.status, b, test.headers...)(r)
				})
				ofNetHTTP := &http.Transport{Protocols: new(http.Protocols)} // whose bodies are read in another way
				ofNetHTTP.Protocols.SetHTTP1(true)
				ofNetHTTP.RegisterProtocol("https", rt)
				for _, transport := range []http.RoundTripper{rt, ofNetHTTP} {
					bodies = nil
					_ = operations["consultar"](t.Context(), newClient(t, transport, test.opts...))
					require.NotEmpty(t, bodies)
					for i, b := range bodies {
						assert.EqualValues(t, 1, b.closes.Load(), "attempt %d over %T", i+1, transport)
					}
				}
			})
		})
	}
	t.Run("one that ends with its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var b *body
			rt := roundTripper(func(r *http.Request) (*http.Response, error) {
				b = &body{read: func() error { <-r.Context().Done(); return r.Context().Err() }}
				return with(200, b)(r)
			})
			_ = operations["validar"](t.Context(), newClient(t, rt))
			synctest.Wait() // on a busy machine the call returns a little earlier
			assert.EqualValues(t, 1, b.closes.Load())
		})
	})
}

func TestATransportThatBreaksTheRules(t *testing.T) {
	noBody := func(status int, length int64) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, ContentLength: length}, nil
		}
	}
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		is     error
		says   string
		status int
	}{
		"neither response nor error": {broken(nil), fiscope.ErrUnavailable, "*fiscope_test.service returned neither a response nor an error", 0},
		"a 200 without a body":       {noBody(200, 0), fiscope.ErrMalformedResponse, "the answer is empty", 200},
		"of unknown length":          {noBody(200, -1), fiscope.ErrMalformedResponse, "the answer is empty", 200},
		"a 204 without a body":       {noBody(204, 0), fiscope.ErrMalformedResponse, "204", 204},
		"a 403 without a body":       {noBody(403, 0), fiscope.ErrUnauthorized, "403", 403},
		"a body that is missing":     {noBody(200, 7), fiscope.ErrUnavailable, "*fiscope_test.service returned a response of 7 bytes without a body", 0},
		"no status":                  {noBody(0, 0), fiscope.ErrUnavailable, "the status 0", 0},
		"a status below zero":        {noBody(-200, 0), fiscope.ErrUnavailable, "the status -200", 0},
		"a status that is none":      {noBody(1000, 0), fiscope.ErrMalformedResponse, "1000", 1000},
		"a response and an error": {func(r *http.Request) (*http.Response, error) {
			resp, _ := raw(200, record)(r)
			return resp, errors.New("broken pipe")
		}, fiscope.ErrUnavailable, "broken pipe", 0},
	} {
		for _, op := range []string{"consultar", "validar"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){test.answer}}
				err := operations[op](t.Context(), newClient(t, s, fiscope.WithRetry(noRetries())))
				require.ErrorIs(t, err, test.is)
				require.ErrorContains(t, err, test.says)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, test.status, e.StatusCode)
				assert.NotEqual(t, fiscope.DeliveryNotSent, e.Delivery)
			})
		}
	}
	t.Run("it is not asked again", func(t *testing.T) {
		client, s := answers(t, broken(nil))
		require.Error(t, operations["consultar"](t.Context(), client))
		assert.Len(t, s.seen(), 1)
	})
	t.Run("no headers", func(t *testing.T) {
		client, _ := answers(t, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(record))}, nil
		})
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
	})
}

func TestWhoeverLeavesInAnAttemptGivesEverythingBack(t *testing.T) {
	for name, test := range map[string]struct {
		leaves func(*http.Request) (*http.Response, error)
		panics any
	}{
		"a panic of the transport": {func(*http.Request) (*http.Response, error) { panic("boom") }, "boom"},
		"a panic of the body":      {with(200, &body{read: func() error { panic("boom") }}), "boom"},
		"a panic of its Close":     {with(200, &body{text: strings.NewReader(record), close: func() error { panic("boom") }}), "boom"},
		"an exit of the transport": {func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil }, nil},
		"an exit of the body":      {with(200, &body{read: func() error { runtime.Goexit(); return nil }}), nil},
	} {
		for _, op := range []string{"consultar", "validar"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := newFleetStore()
					s := &service{answers: []func(*http.Request) (*http.Response, error){
						raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: "+inAnHour()),
						test.leaves, raw(200, map[string]string{"consultar": record, "validar": verdict}[op]),
					}}
					client := newClient(t, s, fiscope.WithStore(store), fiscope.WithRetry(noRetries()))
					require.NoError(t, operations["consultar"](t.Context(), client))
					left := make(chan any)
					go func() {
						defer func() { left <- recover() }()
						_ = operations[op](t.Context(), client)
					}()
					assert.Equal(t, test.panics, panicValue(<-left), "it goes its way")

					start := time.Now()
					require.NoError(t, operations[op](t.Context(), client), "the quota's slot and the turn of the clave are free")
					assert.Zero(t, time.Since(start))
					require.NoError(t, client.Close(t.Context()))
					require.Len(t, store.settled, 3)
					assert.Equal(t, 1, store.settled[1].Written, "it may have been sent")
				})
			})
		}
	}
}

func TestTheHeadersAreBounded(t *testing.T) {
	const bound = 1000
	long := func(n int) []string { return []string{"X-Long: " + strings.Repeat("x", n)} }
	spread := make([]string, 50)
	for i := range spread {
		spread[i] = "X-" + strings.Repeat("n", i) + ": " + strings.Repeat("x", 10)
	}
	for name, test := range map[string]struct {
		status  int
		headers []string
	}{
		"one long header":  {200, long(bound)},
		"many headers":     {200, spread},
		"of a 404":         {404, long(bound)},
		"of a 503":         {503, append(long(bound), "Retry-After: 1")},
		"of a 401":         {401, long(bound)},
		"of a redirect":    {302, long(bound)},
		"of a spent quota": {429, append(long(bound), "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(test.status, record, test.headers...)}}
				client := newClient(t, s, fiscope.WithMaxResponseBytes(bound))
				var resp fiscope.Response
				err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				require.ErrorContains(t, err, "its headers are longer than the client reads")
				assert.Equal(t, test.status, resp.StatusCode)
				assert.Nil(t, resp.Header)
				assert.Nil(t, client.RateLimit(), "nothing of them is read")
				assert.Len(t, s.seen(), 1, "they would be so again")
			})
		})
	}
	t.Run("as many bytes as are read", func(t *testing.T) {
		const others = len("Content-Type: application/json\r\n" + "X-Long: \r\n")
		s := &service{answers: []func(*http.Request) (*http.Response, error){
			raw(200, record, long(bound-others)...), raw(200, record, long(bound-others+1)...),
		}}
		client := newClient(t, s, fiscope.WithMaxResponseBytes(bound))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrMalformedResponse)
	})
	t.Run("a refused clave is refused", func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(401, "", long(bound)...)}}
		client := newClient(t, s, fiscope.WithMaxResponseBytes(bound))
		require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrMalformedResponse)
		require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrSOLCredentialsBlocked)
		assert.Len(t, s.seen(), 1)
	})
}

func TestTheHeadersAreBoundedOverARealSocket(t *testing.T) {
	for name, test := range map[string]struct {
		bytes int
		http2 bool
		own   bool
	}{
		"over HTTP/1, counted":          {bytes: 1<<20 + 1<<10, own: true},
		"over HTTP/1, aborted":          {bytes: 8 << 20, own: true},
		"over HTTP/1, of the caller's":  {bytes: 8 << 20},
		"over HTTP/2, counted":          {bytes: 1<<20 + 1<<10, http2: true},
		"over HTTP/2, which is aborted": {bytes: 12 << 20, http2: true},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				for range test.bytes / 1024 {
					w.Header().Add("X-Long", strings.Repeat("x", 1024))
				}
				_, _ = io.WriteString(w, record)
			}))
			opts := []fiscope.Option{}
			if srv.EnableHTTP2 = test.http2; test.http2 {
				srv.StartTLS()
			} else {
				srv.Start()
			}
			defer srv.Close()
			if !test.own {
				opts = append(opts, fiscope.WithHTTPClient(srv.Client()))
			}
			client, err := fiscope.NewClient(srv.URL, apiKey, opts...)
			require.NoError(t, err)
			defer client.CloseIdleConnections()
			err = operations["consultar"](t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
			require.ErrorContains(t, err, "its headers are longer than the client reads")
			assert.EqualValues(t, 1, requests.Load())
		})
	}
}

// Our own transport stops reading headers without end, long before net/http's own limit of 10 MB.
func TestHeadersWithoutEndAreNotReadToTheEnd(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	written := make(chan int, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		n, line := 0, []byte("X-Long: "+strings.Repeat("x", 64<<10)+"\r\n")
		_, err = conn.Write([]byte("HTTP/1.1 200 OK\r\n"))
		for err == nil && n < 64<<20 {
			var wrote int
			wrote, err = conn.Write(line)
			n += wrote
		}
		written <- n
	}()
	client, err := fiscope.NewClient("http://"+ln.Addr().String(), apiKey, fiscope.WithRetry(noRetries()), fiscope.WithMaxResponseBytes(64<<10))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrMalformedResponse)
	assert.Less(t, <-written, 9<<20)
}

// What the caller registered with a transport stays, also where its proxy must not be asked.
func TestATransportWithoutAProxyOfItsOwnIsUsedAsItIs(t *testing.T) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
	transport.RegisterProtocol("http", s)
	client, err := fiscope.NewClient("http://localhost:1", apiKey, fiscope.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	require.NoError(t, operations["consultar"](t.Context(), client))
	assert.Len(t, s.seen(), 1)
}

// What a body of the caller's does is raised in his goroutine, with the stack of who did it, and is tried once.
func TestABodyThatPanicsOrExits(t *testing.T) {
	boom := errors.New("boom")
	for how, read := range map[string]func() error{
		"a panic":        func() error { panic("boom") },
		"an error":       func() error { panic(boom) },
		"a Goexit":       func() error { runtime.Goexit(); return nil },
		"a late panic":   func() error { time.Sleep(time.Second); panic("boom") },
		"another Goexit": func() error { time.Sleep(time.Second); runtime.Goexit(); return nil },
	} {
		for by, opt := range everyWay {
			t.Run(how+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []func(*http.Request) (*http.Response, error){with(200, &body{read: read})}}
					client := newClient(t, s, opt)
					var recovered any
					returned := false
					over := make(chan struct{})
					go func() {
						defer close(over)
						defer func() { recovered = recover() }()
						_ = operations["consultar"](t.Context(), client)
						returned = true
					}()
					<-over
					assert.False(t, returned)
					assert.Len(t, s.seen(), 1)
					if strings.HasSuffix(how, "Goexit") {
						assert.Nil(t, recovered)
						return
					}
					err, ok := recovered.(error)
					require.True(t, ok)
					assert.Equal(t, how == "an error", errors.Is(err, boom))
					assert.Contains(t, err.Error(), "boom")
					assert.Contains(t, err.Error(), "(*body).Read", "the stack of who panicked")
					assert.Equal(t, 1, strings.Count(err.Error(), "(*body).Read"), "once")
				})
			})
		}
	}
}
