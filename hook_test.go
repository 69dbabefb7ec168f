package fiscope_test

import (
	"context"
	"errors"
	"fmt"
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
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s, inner spans
					client := newClient(t, roundTripper(test.answer), append(opts, fiscope.WithHook(s.hook), fiscope.WithHook(inner.hook), fiscope.WithMaxRetries(0))...)
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
			})
		}
	}
}

func TestTheContextOfAHookIsTheCalls(t *testing.T) {
	within := func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
		ctx, cancel := context.WithTimeout(context.WithValue(ctx, keyOfSpan{}, "span"), time.Second)
		return ctx, func(fiscope.Response, error) { cancel() }
	}
	nothing := func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
		return nil, nil
	}
	for by, opts := range alone {
		for name, op := range operations {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var value, observed any
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						value = r.Context().Value(keyOfSpan{})
						return hangs(r)
					}), append(opts, fiscope.WithHook(nothing), fiscope.WithHook(within), fiscope.WithObserver(func(ctx context.Context, _ fiscope.Event) {
						observed = ctx.Value(keyOfSpan{})
					}))...)
					start := time.Now()
					require.ErrorIs(t, op(t.Context(), client), context.DeadlineExceeded)
					assert.Equal(t, time.Second, time.Since(start), "its deadline counts")
					require.NoError(t, client.Close(t.Context())) // what goes on without the caller is over
					assert.Equal(t, "span", value)
					assert.Equal(t, "span", observed)
				})
			})
		}
	}
}

// The spans of the queries are within that of the operation that is made of them.
func TestAHookOfAnOperationMadeOfOperations(t *testing.T) {
	pending := raw(200, contract(t, "validar_200_en_proceso.json"))
	rates := func(r *http.Request) (*http.Response, error) {
		if date := r.URL.Query().Get("fecha"); date != "1999-05-07" {
			return raw(200, change(price, "2026-11-20", date))(r)
		}
		return raw(404, contract(t, "consultar_404.json"))(r)
	}
	day := fiscope.NewFecha(1999, time.May, 8)
	for name, test := range map[string]struct {
		op, query fiscope.Operation
		queries   int
		answers   []handler
		call      func(context.Context, *fiscope.Client, ...fiscope.CallOption) error
		class     string
	}{
		"SUNAT": {fiscope.OpTipoCambioSUNAT, fiscope.OpConsultarTipoCambio, 2, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.TipoCambio.SUNAT(ctx, day, opts...))
		}, ""},
		"SUNAT, refused": {fiscope.OpTipoCambioSUNAT, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.TipoCambio.SUNAT(ctx, fiscope.Fecha{}, opts...))
		}, "invalid_request"},
		"SUNAT, to come": {fiscope.OpTipoCambioSUNAT, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.TipoCambio.SUNAT(ctx, fiscope.NewFecha(2000, time.January, 20), opts...))
		}, "not_yet_published"},
		"Mes": {fiscope.OpTipoCambioMes, fiscope.OpConsultarTipoCambio, 3, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			lines := 0
			for _, err := range c.TipoCambio.Mes(ctx, 1999, time.April, opts...) {
				if lines++; lines == 3 || err != nil {
					return err // the loop has enough
				}
			}
			return nil
		}, ""},
		"Esperar": {fiscope.OpEsperarCPE, fiscope.OpValidarCPE, 3, []handler{pending, pending, raw(200, verdict)}, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{}, opts...))
		}, ""},
		"Esperar, refused": {fiscope.OpEsperarCPE, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{Cap: -1}, opts...))
		}, "invalid_request"},
		"Esperar, with the clave refused": {fiscope.OpEsperarCPE, fiscope.OpValidarCPE, 2, []handler{pending, raw(401, contract(t, "validar_401.json"))}, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return second(c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{}, opts...))
		}, "invalid_sol_credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s spans
				var w watch
				var requests []any
				far := &service{answers: append(test.answers, rates)}
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					requests = append(requests, r.Context().Value(keyOfSpan{}))
					return far.RoundTrip(r)
				}), append(w.options(), fiscope.WithHook(s.hook))...)
				resp := fiscope.Response{StatusCode: 99} // of a call before
				err := test.call(t.Context(), client, fiscope.WithResponse(&resp))
				all := s.seen(t)
				require.Len(t, all, 1+test.queries)
				assert.NotEqual(t, 99, resp.StatusCode)
				whole := all[0]
				assert.Equal(t, test.op, whole.op)
				assert.Equal(t, test.class, fiscope.ErrorClass(err))
				assert.Equal(t, fmt.Sprint(err), fmt.Sprint(whole.err))
				assert.Empty(t, cmp.Diff(resp, whole.resp))
				for i, query := range all[1:] {
					assert.Equal(t, test.query, query.op)
					assert.Same(t, whole, query.parent)
					assert.Same(t, query, requests[i])
				}
				events, _ := w.seen()
				if test.queries == 0 {
					require.Len(t, events, 1)
					assert.Equal(t, test.op, events[0].Op)
					assert.Equal(t, fmt.Sprint(err), fmt.Sprint(events[0].Err))
					assert.EqualValues(t, 1, client.Stats().Avoided[events[0].Avoided])
				} else {
					assert.Len(t, events, test.queries)
				}
			})
		})
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
		return []fiscope.Option{fiscope.WithLogger(slog.New(logs(leave)))}
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
type logs func()

func (logs) Enabled(context.Context, slog.Level) bool { return true }
func (l logs) Handle(context.Context, slog.Record) error {
	l()
	return nil
}
func (l logs) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l logs) WithGroup(string) slog.Handler      { return l }

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
					t.Run(fmt.Sprint(what, ", ", by, ", ", how, " ", place), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							ctx, cancel := context.WithCancel(t.Context())
							defer cancel()
							var once sync.Once
							leaves := func() { once.Do(func() { leave(cancel) }) }
							s := &service{answers: []handler{slowly(test.answer)}}
							client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
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
					})
				}
			}
		}
	}
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
