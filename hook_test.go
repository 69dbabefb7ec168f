package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func TestAHookIsToldTheEndOnceWhateverHappens(t *testing.T) {
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("the till is closing"))
		return ctx
	}
	short := func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
		_, err := c.Contribuyentes.Consultar(ctx, "123", opts...)
		return err
	}
	type call = func(context.Context, *fiscope.Client, ...fiscope.CallOption) error
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		first  call // nil for none
		call   call
		ctx    func(context.Context) context.Context // nil for the caller's
		class  string
	}{
		"a result":          {raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Remaining: 7"), nil, operations["consultar"], nil, ""},
		"a search":          {raw(200, results), nil, operations["buscar"], nil, ""},
		"a verdict":         {raw(200, verdict), nil, operations["validar"], nil, ""},
		"a rate":            {raw(200, price), nil, operations["tipocambio"], nil, ""},
		"the rate of today": {raw(200, price), nil, operations["hoy"], nil, ""},
		"of a proven clave": {raw(200, verdict), operations["validar"], operations["validar"], nil, ""},
		"not found":         {raw(404, contract(t, "consultar_404.json")), nil, operations["consultar"], nil, "not_found"},
		"an outage":         {raw(503, ""), nil, operations["consultar"], nil, "unavailable"},
		"not the contract":  {raw(200, "<html>"), nil, operations["consultar"], nil, "malformed_response"},
		"an invalid input":  {nil, nil, short, nil, "invalid_request"},
		"an option that is nil": {nil, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			return short(ctx, c, append(opts, nil)...)
		}, nil, "invalid_request"},
		"a blocked clave": {raw(401, contract(t, "validar_401.json")), operations["validar"], operations["validar"], nil, "sol_credentials_blocked"},
		"cancelled":       {nil, nil, operations["consultar"], cancelled, "canceled"},
		"no context":      {nil, nil, operations["consultar"], func(context.Context) context.Context { return nil }, "invalid_request"},
		"the same again":  {raw(200, change(record, "ACTIVO", "OTROS")), operations["consultar"], operations["consultar"], nil, ""},
		"not found again": {raw(404, contract(t, "consultar_404.json")), operations["consultar"], operations["consultar"], nil, "not_found"},
	} {
		for by, opts := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s spans
					client := newClient(t, roundTripper(test.answer), append(opts, fiscope.WithHook(s.hook), fiscope.WithRetry(noRetries()))...)
					if test.first != nil {
						_ = test.first(t.Context(), client)
					}
					ctx := context.WithValue(t.Context(), keyOfCaller{}, "his")
					if test.ctx != nil {
						ctx = test.ctx(ctx)
					}
					var resp fiscope.Response
					err := test.call(ctx, client, fiscope.WithResponse(&resp))
					all := s.seen(t)
					last := all[len(all)-1]
					if ctx != nil {
						assert.Equal(t, "his", last.of)
					}
					assert.Equal(t, test.class, fiscope.ErrorClass(err))
					assert.Equal(t, test.class, fiscope.ErrorClass(last.err))
					assert.Equal(t, fmt.Sprint(err), fmt.Sprint(last.err))
					assert.Empty(t, cmp.Diff(resp, last.resp))
					before := fmt.Sprint(resp, err)
					scribble(&last.resp, last.err)
					assert.Equal(t, before, fmt.Sprint(resp, err), "it has copies")
				})
			})
		}
	}
}

// The end is told although the caller asked for no Response.
func TestAHookHasAResponseOfItsOwn(t *testing.T) {
	var s spans
	client := newClient(t, roundTripper(raw(200, record, "X-RateLimit-Remaining: 7")), fiscope.WithHook(s.hook))
	require.NoError(t, operations["consultar"](t.Context(), client))
	resp := s.seen(t)[0].resp
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, 7, resp.RateLimit.Remaining)
	assert.Equal(t, 1, resp.Attempts)
}

func TestThoseWhoShareAQueryHaveAHookEach(t *testing.T) {
	for by, opt := range coalesced {
		for name, answer := range map[string]func(*http.Request) (*http.Response, error){
			"a result": raw(200, record, "X-Echo: yes"), "an outage": raw(503, "", "X-Echo: yes"),
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s spans
					var within any
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						within = r.Context().Value(keyOfSpan{})
						return slowly(answer)(r)
					}), opt, fiscope.WithHook(s.hook), fiscope.WithRetry(noRetries()))
					var wg sync.WaitGroup
					for i := range 5 {
						wg.Go(func() { _ = operations["consultar"](context.WithValue(t.Context(), keyOfCaller{}, i), client) })
						synctest.Wait()
					}
					wg.Wait()
					for i, one := range s.seen(t) {
						assert.Equal(t, i, one.of)
						assert.Equal(t, i > 0, one.resp.Coalesced)
						assert.Equal(t, "yes", one.resp.Header.Get("X-Echo"))
						assert.Equal(t, name == "a result", one.err == nil)
						scribble(&one.resp, one.err)
					}
					assert.Equal(t, s.all[0], within, "the query is in the span of who began it")
				})
			})
		}
	}
}

func TestAHookIsToldOfACallThatDoesNotReturn(t *testing.T) {
	for leaves, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		for by, opts := range alone {
			for _, op := range []string{"consultar", "validar"} {
				t.Run(leaves+" in "+op+", "+by, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var s spans
						client := newClient(t, roundTripper(func(*http.Request) (*http.Response, error) {
							time.Sleep(time.Second)
							leave()
							return nil, io.EOF
						}), append(opts, fiscope.WithHook(s.hook), fiscope.WithRetry(noRetries()))...)
						var wg sync.WaitGroup
						for range 2 { // of which the second may share the query
							wg.Go(func() {
								defer func() { _ = recover() }()
								_ = operations[op](t.Context(), client)
							})
							synctest.Wait()
						}
						wg.Wait()
						all := s.seen(t)
						require.Len(t, all, 2)
						for _, one := range all {
							var e *fiscope.Error
							require.ErrorAs(t, one.err, &e)
							assert.Equal(t, "other", fiscope.ErrorClass(one.err))
							assert.Equal(t, one.op, e.Op)
						}
						assert.ErrorContains(t, all[0].err, "a panic or runtime.Goexit broke the call off")
					})
				})
			}
		}
	}
}

func TestAHookIsToldWhenTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s spans
		client := newClient(t, roundTripper(after(3*time.Second, raw(200, verdict))), fiscope.WithHook(s.hook))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := operations["validar"](ctx, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		all := s.seen(t)
		assert.Equal(t, err.Error(), all[0].err.Error())
		assert.Equal(t, fiscope.Response{Attempts: 1, Duration: 2 * time.Second}, all[0].resp)
		require.NoError(t, client.Close(t.Context()))
		assert.Len(t, s.seen(t), 1, "what goes on without him is told to nobody")
	})
}

func TestTheContextOfAHookIsTheCalls(t *testing.T) {
	within := func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
		ctx, cancel := context.WithTimeout(context.WithValue(ctx, keyOfSpan{}, "span"), time.Second)
		return ctx, func(fiscope.Response, error) { cancel() }
	}
	for by, opts := range alone {
		for name, op := range operations {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					var value any
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						value = r.Context().Value(keyOfSpan{})
						return hangs(r)
					}), append(append(w.options(), opts...), fiscope.WithHook(within))...)
					start := time.Now()
					require.ErrorIs(t, op(t.Context(), client), context.DeadlineExceeded)
					assert.Equal(t, time.Second, time.Since(start), "its deadline counts")
					require.NoError(t, client.Close(t.Context())) // what goes on without him is over
					assert.Equal(t, "span", value)
				})
			})
		}
	}
}

func TestAHookThatReturnsNothing(t *testing.T) {
	for by, opts := range alone {
		t.Run(by, func(t *testing.T) {
			var of any
			client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
				of = r.Context().Value(keyOfCaller{})
				return raw(200, record)(r)
			}), append(opts, fiscope.WithHook(func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				return nil, nil
			}))...)
			require.NoError(t, operations["consultar"](context.WithValue(t.Context(), keyOfCaller{}, "his"), client))
			assert.Equal(t, "his", of)
		})
	}
}

func TestAPanicInAHookIsTheCallers(t *testing.T) {
	panics := func(fiscope.Response, error) { panic("boom") }
	for by, opts := range alone {
		for name, hook := range map[string]fiscope.Hook{
			"at the start": func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				panic("boom")
			},
			"at the end": func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				return ctx, panics
			},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				once := true
				client := newClient(t, roundTripper(raw(200, verdict)), append(opts, fiscope.WithHook(func(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
					if once {
						once = false
						return hook(ctx, op)
					}
					return nil, nil
				}))...)
				assert.PanicsWithValue(t, "boom", func() { _ = operations["validar"](t.Context(), client) })
				require.NoError(t, operations["validar"](t.Context(), client), "the turn of the clave is free")
			})
		}
	}
}

// The spans of the queries are within that of the operation that is made of them, and the requests within
// those.
func TestAHookOfAnOperationMadeOfOperations(t *testing.T) {
	pending := `{"codigo":"4","mensaje":"x","estado":"En Proceso","esValido":false}`
	rates := func(r *http.Request) (*http.Response, error) {
		if date := r.URL.Query().Get("fecha"); date != "1999-05-07" {
			return raw(200, change(price, "2026-11-20", date))(r)
		}
		return raw(404, contract(t, "consultar_404.json"))(r)
	}
	day := fiscope.NewFecha(1999, time.May, 8)
	for name, test := range map[string]struct {
		op      fiscope.Operation
		query   fiscope.Operation
		queries int
		answers []func(*http.Request) (*http.Response, error)
		call    func(context.Context, *fiscope.Client, ...fiscope.CallOption) error
		class   string
	}{
		"SUNAT": {fiscope.OpTipoCambioSUNAT, fiscope.OpConsultarTipoCambio, 2, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.TipoCambio.SUNAT(ctx, day, opts...)
			return err
		}, ""},
		"UltimoPublicado": {fiscope.OpTipoCambioUltimoPublicado, fiscope.OpConsultarTipoCambio, 2, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.TipoCambio.UltimoPublicado(ctx, day, opts...)
			return err
		}, ""},
		"MasReciente": {fiscope.OpTipoCambioMasReciente, fiscope.OpConsultarTipoCambio, 1, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.TipoCambio.MasReciente(ctx, opts...)
			return err
		}, ""},
		"SUNAT, refused": {fiscope.OpTipoCambioSUNAT, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.TipoCambio.SUNAT(ctx, fiscope.Fecha{}, opts...)
			return err
		}, "invalid_request"},
		"Mes": {fiscope.OpTipoCambioMes, fiscope.OpConsultarTipoCambio, 3, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			lines := 0
			for _, err := range c.TipoCambio.Mes(ctx, 1999, time.April, opts...) {
				if lines++; lines == 3 || err != nil {
					return err // the loop has enough
				}
			}
			return nil
		}, ""},
		"Mes, refused": {fiscope.OpTipoCambioMes, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) (last error) {
			for _, last = range c.TipoCambio.Mes(ctx, 0, time.May, opts...) {
			}
			return last
		}, "invalid_request"},
		"Esperar": {fiscope.OpEsperarCPE, fiscope.OpValidarCPE, 3, []func(*http.Request) (*http.Response, error){raw(200, pending), raw(200, pending), raw(200, verdict)}, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{}, opts...)
			return err
		}, ""},
		"Esperar, refused": {fiscope.OpEsperarCPE, "", 0, nil, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{Cap: -1}, opts...)
			return err
		}, "invalid_request"},
		"Esperar, with the clave refused": {fiscope.OpEsperarCPE, fiscope.OpValidarCPE, 2, []func(*http.Request) (*http.Response, error){raw(200, pending), raw(401, contract(t, "validar_401.json"))}, func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{}, opts...)
			return err
		}, "invalid_sol_credentials"},
	} {
		for by, opts := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s spans
					var requests []any
					far := &service{answers: append(test.answers, rates)}
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						requests = append(requests, r.Context().Value(keyOfSpan{}))
						return far.RoundTrip(r)
					}), append(opts, fiscope.WithHook(s.hook))...)
					resp := fiscope.Response{StatusCode: 99} // of a call before
					err := test.call(t.Context(), client, fiscope.WithResponse(&resp))
					all := s.seen(t)
					require.Len(t, all, 1+test.queries)
					assert.NotEqual(t, 99, resp.StatusCode)
					whole := all[0]
					assert.Equal(t, test.op, whole.op)
					assert.Equal(t, test.class, fiscope.ErrorClass(whole.err))
					assert.Equal(t, fmt.Sprint(err), fmt.Sprint(whole.err))
					assert.Empty(t, cmp.Diff(resp, whole.resp))
					for i, query := range all[1:] {
						assert.Equal(t, test.query, query.op)
						assert.Same(t, whole, query.parent)
						assert.Same(t, query, requests[i])
					}
				})
			})
		}
	}
}

// A Response of Mes is that of the line that was just yielded, with a hook and without.
func TestAResponseOfMesIsOfTheLine(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"without a hook": nil, "with a hook": {fiscope.WithHook(new(spans).hook)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					asked++
					return raw(200, change(price, "2026-11-20", r.URL.Query().Get("fecha")), fmt.Sprintf("X-RateLimit-Remaining: %d", 100-asked))(r)
				}), opts...)
				var resp fiscope.Response
				for _, err := range client.TipoCambio.Mes(t.Context(), 1999, time.May, fiscope.WithResponse(&resp)) {
					require.NoError(t, err)
					assert.Equal(t, 100-asked, resp.RateLimit.Remaining)
					assert.Equal(t, 1, resp.Attempts)
				}
			})
		})
	}
}

func TestAHookIsToldOfALoopThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s spans
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return raw(200, change(price, "2026-11-20", r.URL.Query().Get("fecha")))(r)
		}), fiscope.WithHook(s.hook))
		assert.PanicsWithValue(t, "boom", func() {
			for range client.TipoCambio.Mes(t.Context(), 1999, time.May) {
				panic("boom")
			}
		})
		assert.Equal(t, "other", fiscope.ErrorClass(s.seen(t)[0].err))
	})
}

func TestAHookIsAroundEachQueryOfABatch(t *testing.T) {
	var s spans
	client := newClient(t, roundTripper(raw(200, change(record, rucSUNAT, rucEmisor))), fiscope.WithHook(s.hook))
	for range client.Contribuyentes.ConsultarLote(context.WithValue(t.Context(), keyOfSpan{}, "his"), slices.Values([]string{rucEmisor, "x"}), fiscope.LotePolicy{}) {
	}
	for _, one := range s.seen(t) {
		assert.Equal(t, fiscope.OpConsultarContribuyente, one.op)
		assert.Equal(t, "his", one.parent)
	}
	assert.Len(t, s.all, 2)
}
