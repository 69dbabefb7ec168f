package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// spans is a tracer that keeps what it saw.
type spans struct {
	mu  sync.Mutex
	all []*span
}

// span is one operation.
type span struct {
	op     fiscope.Operation
	parent any // the value of keyOfSpan in the context
	of     any // the value of keyOfCaller
	ends   int
	resp   fiscope.Response
	err    error
}

type keyOfSpan struct{}

func (s *spans) hook(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
	one := &span{op: op, parent: ctx.Value(keyOfSpan{}), of: ctx.Value(keyOfCaller{})}
	s.mu.Lock()
	s.all = append(s.all, one)
	s.mu.Unlock()
	return context.WithValue(ctx, keyOfSpan{}, one), func(resp fiscope.Response, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.ends++
		one.resp, one.err = resp, err
	}
}

// seen returns the spans so far, each of which has ended once.
func (s *spans) seen(t *testing.T) []*span {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		assert.Equal(t, 1, one.ends, "%s ends once", one.op)
	}
	return slices.Clone(s.all)
}

func TestAHookIsToldWhatTheCallerGets(t *testing.T) {
	inTime := func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	cancelled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("the shop is closing"))
		return ctx, func() {}
	}
	leaves := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Second/2)
	}
	missing := raw(404, contract(t, "consultar_404.json"))
	for name, test := range map[string]struct {
		answer      handler
		first, call string // operations; "" for none
		opts        []fiscope.CallOption
		ctx         func(context.Context) (context.Context, context.CancelFunc)
		class       string
	}{
		"a result":         {raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Remaining: 7"), "", "consultar", nil, inTime, ""},
		"a verdict":        {raw(200, verdict), "", "validar", nil, inTime, ""},
		"not found":        {missing, "", "consultar", nil, inTime, "not_found"},
		"an outage":        {raw(503, ""), "", "consultar", nil, inTime, "unavailable"},
		"an invalid call":  {nil, "", "consultar", []fiscope.CallOption{nil}, inTime, "invalid_request"},
		"a blocked clave":  {raw(401, contract(t, "validar_401.json")), "validar", "validar", nil, inTime, "sol_credentials_blocked"},
		"cancelled":        {nil, "", "consultar", nil, cancelled, "canceled"},
		"a caller leaves":  {slowly(raw(200, verdict)), "", "validar", nil, leaves, "unavailable"},
		"the same again":   {raw(200, record), "consultar", "consultar", nil, inTime, ""},
		"not found, again": {missing, "consultar", "consultar", nil, inTime, "not_found"},
		"an outage, again": {raw(503, ""), "consultar", "consultar", []fiscope.CallOption{fiscope.WithRespaldo(registro(func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(rucSUNAT)
			return &c, jueves, nil
		}))}, inTime, ""},
	} {
		for by, opts := range alone {
			inBubble(t, name+", "+by, func(t *testing.T) {
				var s, inner spans
				client := newClient(t, test.answer, append(opts, fiscope.WithHook(s.hook), fiscope.WithHook(inner.hook), fiscope.WithMaxRetries(0))...)
				if test.first != "" {
					_ = operations[test.first](t.Context(), client)
				}
				ctx, cancel := test.ctx(context.WithValue(t.Context(), keyOfCaller{}, "caller"))
				defer cancel()
				var resp fiscope.Response
				err := operations[test.call](ctx, client, append(test.opts, fiscope.WithResponse(&resp))...)
				assert.Equal(t, test.class, fiscope.ErrorClass(err))
				outer := s.seen(t)
				for i, last := range []*span{outer[len(outer)-1], inner.seen(t)[len(outer)-1]} {
					assert.Equal(t, "caller", last.of)
					assert.Equal(t, i == 1, last.parent == outer[len(outer)-1])
					assert.Equal(t, fmt.Sprint(err), fmt.Sprint(last.err))
					assert.Empty(t, cmp.Diff(resp, last.resp))
					before := fmt.Sprint(resp, err)
					scribble(&last.resp, last.err)
					assert.Equal(t, before, fmt.Sprint(resp, err), "it has copies")
				}
			})
		}
	}
}

// leaving are the places in which code of the caller's runs for a call, and may leave it.
var leaving = map[string]func(leave func()) []fiscope.Option{
	"as a hook begins": func(leave func()) []fiscope.Option {
		return []fiscope.Option{fiscope.WithHook(func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			leave()
			return nil, nil
		})}
	},
	"as a hook ends": func(leave func()) []fiscope.Option {
		return []fiscope.Option{fiscope.WithHook(func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			return nil, func(fiscope.Response, error) { leave() }
		})}
	},
	"in an observer": func(leave func()) []fiscope.Option {
		return []fiscope.Option{fiscope.WithObserver(func(context.Context, fiscope.Event) { leave() })}
	},
	"in the log": func(leave func()) []fiscope.Option {
		return []fiscope.Option{fiscope.WithLogger(slog.New(logs{nil, leave}))}
	},
	"in the transport": func(func()) []fiscope.Option { return nil },
	"in Load":          inStore("Load"), "in Save": inStore("Save"), "in Reserve": inStore("Reserve"),
	"in Commit": inStore("Commit"), "in Claim": inStore("Claim"), "in Record": inStore("Record"),
}

func inStore(in string) func(func()) []fiscope.Option {
	return func(leave func()) []fiscope.Option {
		s := newMemoryStore()
		s.enters = func(method string) {
			if method == in {
				leave()
			}
		}
		return []fiscope.Option{fiscope.WithStore(s)}
	}
}

// logs is a log handler that does something first.
type logs struct {
	*watch
	leave func()
}

func (l logs) Handle(context.Context, slog.Record) error {
	l.leave()
	return nil
}

// Wherever and however a caller leaves a call: nobody hangs, nothing stays taken, an answer is recorded, and no
// goroutine is left.
func TestACallerWhoLeavesTakesNothingAlong(t *testing.T) {
	refusal := contract(t, "validar_401.json")
	for place, options := range leaving {
		for how, leave := range map[string]func(cancel func()){
			"panics": func(func()) { panic("boom") }, "exits": func(func()) { runtime.Goexit() }, "cancels": func(cancel func()) { cancel() },
		} {
			for what, test := range map[string]struct {
				op     string
				answer handler
			}{
				"a lookup": {"consultar", raw(200, record, "X-RateLimit-Remaining: 100", "X-RateLimit-Reset: 2000-01-01T12:00:00Z")},
				"a clave":  {"validar", raw(200, verdict)}, "a wrong clave": {"validar", raw(401, refusal)},
			} {
				for by, shared := range alone {
					inBubble(t, fmt.Sprint(what, ", ", by, ", ", how, " ", place), func(t *testing.T) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						var once sync.Once
						leaves := func() { once.Do(func() { leave(cancel) }) }
						s := &service{answers: []handler{slowly(test.answer)}}
						client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
							if place == "in the transport" {
								leaves()
							}
							return s.RoundTrip(r)
						}), append(append(shared, options(leaves)...), fiscope.WithMaxRetries(0))...)
						start := time.Now()
						var wg sync.WaitGroup
						for _, ctx := range []context.Context{ctx, t.Context()} {
							wg.Go(func() {
								defer func() { _ = recover() }()
								_ = operations[test.op](ctx, client)
							})
							synctest.Wait()
						}
						wg.Wait()
						assert.LessOrEqual(t, time.Since(start), 4*time.Second, "nobody hangs")
						time.Sleep(5 * time.Second) // after which a Store that failed is asked again
						_ = operations["hoy"](t.Context(), client)
						require.NoError(t, client.Close(t.Context()))
						start = time.Now()
						err := operations[test.op](t.Context(), client)
						assert.LessOrEqual(t, time.Since(start), time.Second, "nothing is taken")
						if what == "a wrong clave" {
							require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
							assert.Equal(t, 1, s.posts(), "what was answered is recorded")
							return
						}
						require.NoError(t, err)
					})
				}
			}
		}
	}
}

func TestAHookIsToldOfAPanic(t *testing.T) {
	var s spans
	client := newClient(t, handler(func(*http.Request) (*http.Response, error) { panic("boom") }), fiscope.WithHook(s.hook))
	assert.PanicsWithValue(t, "boom", func() { _ = operations["consultar"](t.Context(), client) })
	require.ErrorContains(t, s.seen(t)[0].err, "a panic or runtime.Goexit ended the call; the service may have received it")
}

// pool counts how often its idle connections are closed.
type pool struct {
	handler
	closed int
}

func (p *pool) CloseIdleConnections() { p.closed++ }

func TestOnlyCloseClosesConnections(t *testing.T) {
	p := &pool{handler: broken(io.ErrUnexpectedEOF)}
	client := newClient(t, p, fiscope.WithMaxRetries(0))
	require.Error(t, operations["consultar"](t.Context(), client))
	assert.Zero(t, p.closed, "they are the caller's")
	require.NoError(t, client.Close(t.Context()))
	assert.Equal(t, 1, p.closed)
}

func TestCloseWaitsForTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, after(3*time.Second, raw(401, contract(t, "validar_401.json"))))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, validar(ctx, client, clave), context.DeadlineExceeded)
		start := time.Now()
		short, cancelShort := context.WithTimeoutCause(t.Context(), time.Second, context.Canceled)
		defer cancelShort()
		require.ErrorIs(t, client.Close(short), context.Canceled)
		assert.Equal(t, time.Second, time.Since(start))
		together(3, func(int) { assert.NoError(t, client.Close(t.Context())) })
		assert.Equal(t, 2*time.Second, time.Since(start))
		assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked, "later calls are made as before")
		assert.Len(t, s.seen(), 1)
	})
}
