package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// everyWay are the options under which a lookup is made alone, or may be shared.
var everyWay = map[string]fiscope.Option{"alone": fiscope.WithUserAgent("x"), "coalescing": coalesced["coalescing"], "cache": coalesced["cache"]}

func TestWhoJoinedAQueryThatWasBrokenOffKnowsHowFarItCame(t *testing.T) {
	leaves := map[string]func(){"panic": func() { panic("unexpected: X-API-KEY " + apiKey) }, "Goexit": runtime.Goexit}
	for how, leave := range leaves {
		for place, test := range map[string]struct {
			opts     []fiscope.Option
			answers  []func(*http.Request) (*http.Response, error)
			delivery fiscope.Delivery
			attempts int
		}{
			"in the transport": {
				nil, []func(*http.Request) (*http.Response, error){func(*http.Request) (*http.Response, error) { time.Sleep(time.Second); leave(); return nil, nil }},
				fiscope.DeliveryUnknown, 1,
			},
			"in another attempt": {
				[]fiscope.Option{fiscope.WithRetry(fiscope.RetryPolicy{MaxRetries: 1, Base: 1, Cap: 1})},
				[]func(*http.Request) (*http.Response, error){raw(503, ""), func(*http.Request) (*http.Response, error) { time.Sleep(time.Second); leave(); return nil, nil }},
				fiscope.DeliveryUnknown, 2,
			},
			"in an observer": {
				[]fiscope.Option{fiscope.WithObserver(func(e fiscope.Event) {
					if e.Attempt == 1 {
						leave()
					}
				})},
				[]func(*http.Request) (*http.Response, error){slowly(raw(200, record))}, fiscope.DeliveryUnknown, 1,
			},
			"in the Store, before it was sent": {
				[]fiscope.Option{fiscope.WithStore(newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(time.Second); leave() }}))},
				[]func(*http.Request) (*http.Response, error){raw(200, record)}, fiscope.DeliveryNotSent, 0,
			},
		} {
			for by, opt := range coalesced {
				t.Run(how+" "+place+", "+by, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						client := newClient(t, &service{answers: test.answers}, append(test.opts, opt)...)
						var wg sync.WaitGroup
						wg.Go(func() {
							defer func() { _ = recover() }()
							_ = operations["consultar"](t.Context(), client)
						})
						time.Sleep(time.Millisecond)
						var resp fiscope.Response
						err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
						wg.Wait()
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, fiscope.OpConsultarContribuyente, e.Op)
						assert.Equal(t, test.delivery, e.Delivery)
						assert.Equal(t, test.attempts, e.Attempts)
						assert.Equal(t, test.attempts, resp.Attempts)
						assert.NotErrorIs(t, err, fiscope.ErrUnavailable, "it says nothing of the service")
						assert.False(t, leaks(err.Error(), apiKey))
					})
				})
			}
		}
	}
}

// A request that waits for its connection has reached nobody, and goes out for nobody.
func TestADialThatHangs(t *testing.T) {
	for name, dials := range map[string]int{"the first": 0, "after an attempt that failed": 1} {
		for by, opt := range everyWay {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					n := 0
					start := time.Now()
					transport := &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
						mu.Lock()
						n++
						failed := n <= dials
						mu.Unlock()
						if failed {
							return nil, errors.New("no route")
						}
						<-ctx.Done()
						return nil, ctx.Err()
					}}
					client := newClient(t, transport, opt, fiscope.WithRetry(fiscope.RetryPolicy{MaxRetries: 1, Base: 1, Cap: 1}))
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					ask := func() {
						err := operations["consultar"](ctx, client)
						var e *fiscope.Error
						if assert.ErrorAs(t, err, &e) {
							assert.ErrorIs(t, err, context.DeadlineExceeded)
							assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
							assert.Equal(t, dials+1, e.Attempts)
						}
					}
					var wg sync.WaitGroup
					wg.Go(ask)
					if by != "alone" {
						wg.Go(ask)
					}
					wg.Wait()
					require.NoError(t, client.Close(t.Context()))
					assert.Equal(t, time.Second, time.Since(start), "also of what goes on in the background")
					assert.Zero(t, client.Stats().Sent)
					if by != "alone" {
						assert.Equal(t, dials+1, n)
					}
				})
			})
		}
	}
}

// What was answered, or not, before the limiter was waited for is why a call failed, by every way.
func TestTheReasonBeforeTheLimiterIsKept(t *testing.T) {
	reset := errors.New("reset")
	for by, opt := range everyWay {
		for how, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"a deadline ahead": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 2*time.Second)
			},
			"a cancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(2*time.Second, cancel)
				return ctx, cancel
			},
		} {
			t.Run(how+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []func(*http.Request) (*http.Response, error){broken(reset)}}
					client := newClient(t, s, opt, fiscope.WithRateLimit(0.2, 1), fiscope.WithRetry(fiscope.RetryPolicy{MaxRetries: 3, Base: 1, Cap: 1}))
					ctx, cancel := end(t.Context())
					defer cancel()
					err := operations["consultar"](ctx, client)
					require.ErrorIs(t, err, reset)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, 1, e.Attempts)
					assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
					require.NoError(t, client.Close(t.Context()))
					assert.Len(t, s.seen(), 1)
				})
			})
		}
	}
}

// A call that cannot wait for its place at the limiter takes none, and one that gives up gives it back.
func TestWhoCannotWaitForTheLimiterTakesNoPlace(t *testing.T) {
	for by, opt := range everyWay {
		answer := roundTripper(func(r *http.Request) (*http.Response, error) {
			return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-len(rucSUNAT):]))(r)
		})
		lookUp := func(ctx context.Context, client *fiscope.Client, n int) error {
			_, err := client.Contribuyentes.Consultar(ctx, ruc(n))
			return err
		}
		for name, hurried := range map[string]int{"one": 1, "many": 100} {
			t.Run(name+" "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := newClient(t, answer, opt, fiscope.WithRateLimit(1, 1))
					require.NoError(t, lookUp(t.Context(), client, 1000))
					var wg sync.WaitGroup
					start := time.Now()
					for n := range hurried {
						for range 2 {
							wg.Go(func() {
								ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
								defer cancel()
								assert.ErrorIs(t, lookUp(ctx, client, n), context.DeadlineExceeded)
							})
						}
					}
					wg.Wait()
					assert.Zero(t, time.Since(start), "they are told at once")
					require.NoError(t, lookUp(t.Context(), client, 2000))
					assert.Equal(t, time.Second, time.Since(start))
				})
			})
		}
		t.Run("one that is cancelled, "+by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, answer, opt, fiscope.WithRateLimit(0.1, 1))
				require.NoError(t, lookUp(t.Context(), client, 1000))
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				require.ErrorIs(t, lookUp(ctx, client, 1), context.Canceled)
				synctest.Wait()
				require.NoError(t, lookUp(t.Context(), client, 2))
				assert.Equal(t, 10*time.Second, time.Since(start), "its place is free")
			})
		})
		t.Run("the patient of one question, "+by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, answer, opt, fiscope.WithRateLimit(0.1, 1))
				require.NoError(t, lookUp(t.Context(), client, 1000))
				var wg sync.WaitGroup
				start := time.Now()
				for range 20 { // of whom none joins a query that ends for want of time
					wg.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						defer cancel()
						assert.ErrorIs(t, lookUp(ctx, client, 1), context.DeadlineExceeded)
					})
				}
				if by != "alone" {
					for range 20 {
						wg.Go(func() { assert.NoError(t, lookUp(t.Context(), client, 1)) })
					}
				}
				wg.Wait()
				assert.LessOrEqual(t, time.Since(start), 10*time.Second)
			})
		})
	}
}

// All callers left while the Store was asked: nothing is sent, without a quota gate too.
func TestWhatEverybodyLeftBeforeItWasSentIsNotSent(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"": nil, "without a gate": {fiscope.WithoutQuotaGate()}, "with a limit": {fiscope.WithoutQuotaGate(), fiscope.WithRateLimit(1, 1)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
				store := newTroubled(map[string]func(context.Context){"Load": hanging})
				client := newClient(t, s, append(opts, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))...)
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
				time.Sleep(time.Minute)
				assert.Empty(t, s.seen())
				assert.Zero(t, client.Stats().Attempts, fmt.Sprint(client.Stats()))
			})
		})
	}
}
