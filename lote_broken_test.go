package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// batches are the two batches, of three inputs each, which are told to consume.
var batches = map[string]func(ctx context.Context, c *fiscope.Client, consume func(error) bool){
	"ConsultarLote": func(ctx context.Context, c *fiscope.Client, consume func(error) bool) {
		for _, err := range c.Contribuyentes.ConsultarLote(ctx, rucs(3), fiscope.LotePolicy{}) {
			if !consume(err) {
				return
			}
		}
	},
	"ValidarLote": func(ctx context.Context, c *fiscope.Client, consume func(error) bool) {
		var facturas []fiscope.Comprobante
		for n := range 3 {
			f := factura
			f.Numero += n
			facturas = append(facturas, f)
		}
		for _, err := range c.CPE.ValidarLote(ctx, slices.Values(facturas), credenciales, fiscope.LotePolicy{}) {
			if !consume(err) {
				return
			}
		}
	},
}

func TestWhatBreaksOffAQueryBreaksOffTheLoopOverItsBatch(t *testing.T) {
	boom := errors.New("boom")
	answer := func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return raw(200, verdict)(r)
		}
		return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-len(rucSUNAT):]))(r)
	}
	for place, with := range map[string]func(raise func()) (fiscope.Option, http.RoundTripper){
		"the transport": func(raise func()) (fiscope.Option, http.RoundTripper) {
			return fiscope.WithUserAgent("x"), roundTripper(func(r *http.Request) (*http.Response, error) { raise(); return answer(r) })
		},
		"an observer": func(raise func()) (fiscope.Option, http.RoundTripper) {
			return fiscope.WithObserver(func(fiscope.Event) { raise() }), roundTripper(answer)
		},
		"a hook": func(raise func()) (fiscope.Option, http.RoundTripper) {
			return fiscope.WithHook(func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				raise()
				return ctx, nil
			}), roundTripper(answer)
		},
	} {
		for how, leave := range map[string]func(){"a panic": func() { panic(boom) }, "a Goexit": runtime.Goexit} {
			for which, batch := range batches {
				for at := range int64(3) { // the first query goes alone
					for by, opt := range map[string]fiscope.Option{"": fiscope.WithUserAgent("y"), "coalesced": fiscope.WithCoalescing()} {
						t.Run(fmt.Sprint(how, " of ", place, ", ", which, " at ", at, by), func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								var count atomic.Int64
								option, rt := with(func() {
									if count.Add(1) == at+1 {
										time.Sleep(time.Second)
										leave()
									}
								})
								client := newClient(t, rt, option, opt)
								var recovered any
								returned := false
								over := make(chan struct{})
								go func() {
									defer close(over)
									defer func() { recovered = recover() }()
									batch(t.Context(), client, func(error) bool { return true })
									returned = true
								}()
								<-over
								assert.False(t, returned)
								if how == "a panic" {
									err, _ := recovered.(error)
									require.ErrorIs(t, err, boom)
									assert.Contains(t, err.Error(), "lote_broken_test.go", "the stack of who panicked")
								} else {
									assert.Nil(t, recovered)
								}
								batch(t.Context(), client, func(err error) bool { return assert.NoError(t, err, "the next works") })
							})
						})
					}
				}
			}
		}
	}
}

// What is under way when the loop ends is cancelled, and may panic at that.
func TestAPanicAfterTheLastLineIsTheLoopsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			if count.Add(1) == 1 {
				return raw(404, contract(t, "consultar_404.json"))(r)
			}
			if count.Load() == 2 {
				time.Sleep(time.Second)
				return raw(404, contract(t, "consultar_404.json"))(r)
			}
			<-r.Context().Done()
			panic("boom")
		}))
		lines := 0
		defer func() {
			assert.Contains(t, fmt.Sprint(recover()), "boom")
			assert.Equal(t, 2, lines)
		}()
		for range client.Contribuyentes.ConsultarLote(t.Context(), rucs(3), fiscope.LotePolicy{}) {
			if lines++; lines == 2 {
				break
			}
		}
		t.Error("the loop was left as if nothing had happened")
	})
}

// The loop's own end is not replaced by one of a query.
func TestALoopThatPanicsEndsItsBatch(t *testing.T) {
	for how, leave := range map[string]func(){"a panic": func() { panic("mine") }, "a Goexit": runtime.Goexit} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path[len(r.URL.Path)-11:] == ruc(0) {
						return raw(404, contract(t, "consultar_404.json"))(r)
					}
					<-r.Context().Done()
					panic("the query's")
				}))
				var recovered any
				over := make(chan struct{})
				go func() {
					defer close(over)
					defer func() { recovered = recover() }()
					for l := range client.Contribuyentes.ConsultarLote(t.Context(), func(yield func(string) bool) { _ = yield(ruc(0)) && yield(ruc(1)) }, fiscope.LotePolicy{}) {
						assert.Zero(t, l.Posicion)
						leave()
					}
				}()
				<-over
				assert.Equal(t, map[string]any{"a panic": "mine", "a Goexit": nil}[how], recovered)
			})
		})
	}
}

func TestABatchThatIsPulledPanicsWhereItIsPulled(t *testing.T) {
	client := newClient(t, roundTripper(func(*http.Request) (*http.Response, error) { panic("boom") }))
	next, stop := iter.Pull2(client.Contribuyentes.ConsultarLote(t.Context(), rucs(2), fiscope.LotePolicy{}))
	defer stop()
	defer func() { assert.Contains(t, fmt.Sprint(recover()), "boom") }()
	_, _, _ = next()
	t.Error("it returned")
}

// The cause of a batch's end may be anything.
func TestTheCauseOfABatchsEndIsSafeToShowAndNoClass(t *testing.T) {
	client := newClient(t, roundTripper(raw(404, contract(t, "consultar_404.json"))))
	_, missing := client.Contribuyentes.Consultar(t.Context(), rucEmisor)
	for name, cause := range map[string]error{
		"another call's error": missing,
		"... that is wrapped":  fmt.Errorf("the first of us: %w", missing),
		"one that has the key": errors.New("refused: X-API-KEY " + apiKey),
	} {
		for which, batch := range batches {
			t.Run(name+", "+which, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(cause)
				var stopped *fiscope.LoteDetenido
				batch(ctx, client, func(err error) bool { return assert.ErrorAs(t, err, &stopped) })
				require.ErrorIs(t, stopped, context.Canceled)
				require.ErrorIs(t, stopped, cause)
				require.NotErrorIs(t, stopped, fiscope.ErrNotFound)
				assert.Equal(t, "canceled", fiscope.ErrorClass(stopped))
				assert.False(t, leaks(stopped.Error(), apiKey))
			})
		}
	}
}
