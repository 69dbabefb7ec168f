package fiscope_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// coalesced are the options under which calls share queries.
var coalesced = map[string]fiscope.Option{
	"coalescing": fiscope.WithCoalescing(),
	"cache":      fiscope.WithCache(fiscope.CachePolicy{}),
}

// scribble writes into all that a caller got. What another caller can see of it is a data race, or wrong.
func scribble(resp *fiscope.Response, err error) {
	if resp.Header != nil {
		resp.Header.Set("X-Mine", "mine")
	}
	for _, values := range resp.Header {
		values[0] = "mine"
	}
	for i := range resp.Warnings {
		resp.Warnings[i] = "mine"
	}
	if resp.RateLimit != nil {
		resp.RateLimit.Remaining = -7
	}
	var e *fiscope.Error
	if errors.As(err, &e) {
		for i := range e.Body() {
			e.Body()[i] = 'x'
		}
		e.Message, e.Code = "mine", "MINE"
		if e.RateLimit != nil {
			e.RateLimit.Remaining = -7
		}
	}
}

func TestWhoSharesAQueryHasAllToHimself(t *testing.T) {
	headers := []string{"X-RateLimit-Remaining: 7", "X-RateLimit-Limit: 10", "X-Echo: yes"}
	odd := change(record, "ACTIVO", "OTROS") // which is warned of
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"an answer":              raw(200, odd, headers...),
		"not found":              raw(404, contract(t, "consultar_404.json"), headers...),
		"an outage":              raw(500, `{"error":"caído","code":"X"}`, headers...),
		"not found inside a 200": raw(200, contract(t, "consultar_404.json"), headers...),
	} {
		for by, opt := range coalesced {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(answer)}}
					client := newClient(t, s, opt, fiscope.WithRetry(noRetries()))
					ask := func() (fiscope.Response, error) {
						var resp fiscope.Response
						c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
						var e *fiscope.Error
						if errors.As(err, &e) {
							assert.NotEmpty(t, e.Body())
							assert.NotContains(t, string(e.Body()), "xx")
							assert.NotEqual(t, "mine", e.Message)
						} else {
							assert.Equal(t, "SUNAT", c.RazonSocial)
							assert.Len(t, resp.Warnings, 1)
							c.RazonSocial = "mine"
						}
						if !resp.FromCache {
							assert.Equal(t, "yes", resp.Header.Get("X-Echo"))
							assert.Equal(t, 7, resp.RateLimit.Remaining)
						}
						assert.NotContains(t, resp.Warnings, "mine")
						return resp, err
					}
					var wg sync.WaitGroup
					for range 20 {
						wg.Go(func() {
							resp, err := ask()
							scribble(&resp, err)
						})
					}
					wg.Wait()
					for range 2 { // what is kept is not touched either
						resp, err := ask()
						scribble(&resp, err)
					}
				})
			})
		}
	}
}

func TestAPanicIsRaisedInTheGoroutineWhoseQueryItWas(t *testing.T) {
	boom := errors.New("boom")
	for place, opts := range map[string]func(raise func()) (fiscope.Option, func(*http.Request) (*http.Response, error)){
		"in the transport": func(raise func()) (fiscope.Option, func(*http.Request) (*http.Response, error)) {
			return fiscope.WithUserAgent("x"), func(*http.Request) (*http.Response, error) { raise(); return nil, nil }
		},
		"in an observer": func(raise func()) (fiscope.Option, func(*http.Request) (*http.Response, error)) {
			return fiscope.WithObserver(func(e fiscope.Event) {
				if e.Attempt == 1 {
					raise()
				}
			}), raw(200, record)
		},
	} {
		for by, opt := range coalesced {
			t.Run(place+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var raised atomic.Bool
					option, answer := opts(func() {
						if !raised.Swap(true) {
							time.Sleep(time.Second)
							panic(boom)
						}
					})
					s := &service{answers: []func(*http.Request) (*http.Response, error){answer, raw(200, record)}}
					client := newClient(t, s, opt, option)
					var wg sync.WaitGroup
					wg.Go(func() {
						defer func() {
							recovered := recover()
							err, _ := recovered.(error)
							assert.ErrorIs(t, err, boom)
							assert.Contains(t, fmt.Sprint(recovered), "boom")
							assert.Contains(t, fmt.Sprint(recovered), "TestAPanicIsRaisedInTheGoroutine", "the stack of who panicked")
						}()
						_ = operations["consultar"](t.Context(), client)
						t.Error("it returned")
					})
					synctest.Wait()
					for range 3 {
						wg.Go(func() {
							err := operations["consultar"](t.Context(), client)
							var e *fiscope.Error
							assert.ErrorAs(t, err, &e)
							assert.ErrorIs(t, err, boom)
							assert.NotErrorIs(t, err, fiscope.ErrUnavailable)
							assert.ErrorContains(t, err, "panicked: boom")
						})
					}
					wg.Wait()
					require.NoError(t, operations["consultar"](t.Context(), client), "the next call works")
					assert.EqualValues(t, 3, client.Stats().Avoided[fiscope.AvoidedCoalesced])
				})
			})
		}
	}
}

func TestAGoexitEndsTheGoroutineWhoseQueryItWas(t *testing.T) {
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){func(*http.Request) (*http.Response, error) {
					time.Sleep(time.Second)
					runtime.Goexit() // as t.FailNow does
					return nil, nil
				}, raw(200, record)}}
				client := newClient(t, s, opt)
				var wg sync.WaitGroup
				wg.Go(func() {
					_ = operations["consultar"](t.Context(), client)
					t.Error("it returned")
				})
				synctest.Wait()
				for range 3 {
					wg.Go(func() {
						var e *fiscope.Error
						assert.ErrorAs(t, operations["consultar"](t.Context(), client), &e)
					})
				}
				wg.Wait()
				require.NoError(t, operations["consultar"](t.Context(), client), "the next call works")
			})
		})
	}
}

// A panic that no caller is there to get must not end the process, and is not lost.
func TestAPanicAfterItsCallerLeftIsLogged(t *testing.T) {
	panics := func(*http.Request) (*http.Response, error) {
		time.Sleep(time.Minute)
		panic("boom " + apiKey)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), panicking{slog.DiscardHandler}} {
			client := newClient(t, roundTripper(panics), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithLogger(slog.New(handler)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
			cancel()
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		assert.Contains(t, log.String(), "boom")
		assert.Contains(t, log.String(), "TestAPanicAfterItsCallerLeftIsLogged")
		assert.False(t, leaks(log.String(), apiKey))
	})
}

// panicking is a log handler at fault.
type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool  { return true }
func (panicking) Handle(context.Context, slog.Record) error { panic("no log") }

func TestAQueryHasNoLimitWhileACallerWaits(t *testing.T) {
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-11:]))(r)
				}), opt, fiscope.WithRateLimit(1, 1))
				var wg sync.WaitGroup
				var answered atomic.Int64
				for i := range 300 {
					wg.Go(func() {
						_, err := client.Contribuyentes.Consultar(context.Background(), fmt.Sprintf("20%09d", i))
						if assert.NoError(t, err) {
							answered.Add(1)
						}
					})
				}
				wg.Wait()
				assert.EqualValues(t, 300, answered.Load())
			})
		})
	}
}

func TestTheLargestNumbersOverflowNothing(t *testing.T) {
	const forever = time.Duration(math.MaxInt64)
	everything := fiscope.CachePolicy{Consulta: forever, Busqueda: forever, NoExiste: forever, StaleIfError: forever, Entries: 100}
	almost := fiscope.CachePolicy{Consulta: forever - 1, Busqueda: forever - 1, NoExiste: forever - 1, StaleIfError: forever - 1}
	retry := fiscope.RetryPolicy{MaxRetries: math.MaxInt, Base: time.Second, Cap: forever, MaxRetryAfter: forever}
	for name, opts := range map[string][]fiscope.Option{
		"retries":            {fiscope.WithRetry(retry)},
		"timeouts":           {fiscope.WithTimeout(forever, forever)},
		"cache":              {fiscope.WithCache(everything)},
		"nearly":             {fiscope.WithCache(almost)},
		"retries and shared": {fiscope.WithRetry(retry), fiscope.WithTimeout(forever, forever), fiscope.WithCoalescing()},
		"all":                {fiscope.WithRetry(retry), fiscope.WithTimeout(forever, forever), fiscope.WithCache(everything)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, ""), raw(503, "", "Retry-After: 3"), slowly(raw(200, record))}}
				client := newClient(t, s, append(opts, fiscope.WithStore(store))...)
				require.NoError(t, operations["consultar"](t.Context(), client))
				var resp fiscope.Response
				require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
				assert.False(t, resp.Stale)
				require.NoError(t, client.Close(t.Context()))
				for _, ttl := range store.ttls {
					assert.Positive(t, ttl)
				}
			})
		})
	}
	t.Run("the first wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			retry := retry
			retry.Base = forever
			for _, opts := range [][]fiscope.Option{{}, {fiscope.WithCoalescing()}} {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "", "Retry-After: 3"), raw(200, record)}}
				ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
				require.ErrorIs(t, operations["consultar"](ctx, newClient(t, s, append(opts, fiscope.WithRetry(retry))...)), fiscope.ErrUnavailable)
				cancel()
				assert.Len(t, s.seen(), 1, "a wait of centuries is not one of nothing")
			}
		})
	})
}

// giveUp is what can be seen of a call that a caller gave up.
type giveUp struct {
	is       []error
	resp     fiscope.Response
	took     time.Duration
	calls    int64
	attempts int
	status   int
}

// Where a caller stands when he gives up is told by what the service does.
func TestGivingUpASharedCallIsLikeGivingUpAlone(t *testing.T) {
	reason := errors.New("the till is closing, with " + apiKey)
	for place, where := range map[string]struct {
		answers []func(*http.Request) (*http.Response, error)
		opts    []fiscope.Option
	}{
		"while it is sent":             {answers: []func(*http.Request) (*http.Response, error){hangs}},
		"while it waits for another":   {answers: []func(*http.Request) (*http.Response, error){raw(503, `{"error":"x","code":"Y"}`, "Retry-After: 9", "X-RateLimit-Remaining: 5")}},
		"while another is sent":        {answers: []func(*http.Request) (*http.Response, error){raw(503, ""), hangs}, opts: []fiscope.Option{fiscope.WithRetry(fiscope.RetryPolicy{MaxRetries: 1, Base: 1, Cap: 1})}},
		"after no answer":              {answers: []func(*http.Request) (*http.Response, error){broken(errors.New("reset"))}, opts: []fiscope.Option{fiscope.WithRetry(fiscope.RetryPolicy{MaxRetries: 1, Base: 1e6 * time.Hour, Cap: 1e6 * time.Hour})}},
		"while it waits for the limit": {answers: []func(*http.Request) (*http.Response, error){raw(200, price), hangs}, opts: []fiscope.Option{fiscope.WithRateLimit(0.001, 1)}},
	} {
		for how, end := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
			"by a deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 2*time.Second)
			},
			"by a deadline with a cause": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(ctx, 2*time.Second, reason)
			},
			"by a cancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(2*time.Second, cancel)
				return ctx, cancel
			},
			"by a cancel with a cause": func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(2*time.Second, func() { cancel(reason) })
				return ctx, func() { cancel(nil) }
			},
		} {
			t.Run(place+" "+how, func(t *testing.T) {
				// ask returns what the one sees who gives up, among other callers of the same.
				ask := func(t *testing.T, before, after int, opt ...fiscope.Option) (g giveUp) {
					synctest.Test(t, func(t *testing.T) {
						var events []fiscope.Event
						var mu sync.Mutex
						opts := append(slices.Concat(where.opts, opt), fiscope.WithObserver(func(e fiscope.Event) {
							mu.Lock()
							defer mu.Unlock()
							events = append(events, e)
						}))
						s := &service{answers: where.answers}
						client := newClient(t, s, opts...)
						if place == "while it waits for the limit" {
							require.NoError(t, operations["tipocambio"](t.Context(), client))
						}
						others, stop := context.WithCancel(t.Context())
						var wg sync.WaitGroup
						another := func() { wg.Go(func() { assert.Error(t, operations["consultar"](others, client)) }) }
						for range before {
							another()
							synctest.Wait()
						}
						calls := client.Stats().Calls
						mu.Lock()
						seen := len(events)
						mu.Unlock()
						ctx, cancel := end(t.Context())
						defer cancel()
						for range after {
							time.AfterFunc(0, another)
						}
						resp := fiscope.Response{StatusCode: 99, Header: http.Header{"Old": nil}, Warnings: []string{"old"}, FromCache: true}
						start := time.Now()
						err := operations["consultar"](ctx, client, fiscope.WithResponse(&resp))
						g.took, g.resp = time.Since(start), resp
						assert.Equal(t, g.took, resp.Duration)
						for _, is := range []error{context.DeadlineExceeded, context.Canceled, reason, fiscope.ErrUnavailable, fiscope.ErrNotFound} {
							if errors.Is(err, is) {
								g.is = append(g.is, is)
							}
						}
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						g.attempts, g.status = e.Attempts, e.StatusCode
						assert.False(t, leaks(err.Error(), apiKey), "the cause's text is cleaned")
						g.calls = client.Stats().Calls - calls
						mu.Lock()
						if before > 0 {
							require.Len(t, events[seen:], 1, "one event of a follower")
							assert.Equal(t, fiscope.AvoidedCoalesced, events[seen].Avoided)
						}
						mu.Unlock()
						synctest.Wait()
						stop()
						wg.Wait()
						assert.EqualValues(t, 1+before+after, client.Stats().Calls-calls, "one for each caller")
						time.Sleep(time.Hour) // for what is brought home
					})
					g.resp.Duration, g.resp.Coalesced = 0, false
					return g
				}
				alone := ask(t, 0, 0)
				for by, opt := range coalesced {
					assert.Equal(t, alone, ask(t, 0, 0, opt), "by himself, %s", by)
					assert.Equal(t, alone, ask(t, 0, 2, opt), "whose query it is, %s", by)
					assert.Equal(t, alone, ask(t, 2, 0, opt), "who joined it, %s", by)
				}
			})
		}
	}
}

func TestAWaitBeyondACallersDeadlineEndsHisCallAtOnce(t *testing.T) {
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(503, `{"error":"x","code":"Y"}`, "Retry-After: 60")), raw(200, record)}}
				retry := fiscope.DefaultRetryPolicy()
				retry.MaxRetryAfter = time.Hour
				client := newClient(t, s, opt, fiscope.WithRetry(retry))
				impatient := func(took time.Duration) {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					start := time.Now()
					var resp fiscope.Response
					err := operations["consultar"](ctx, client, fiscope.WithResponse(&resp))
					assert.Equal(t, took, time.Since(start))
					var e *fiscope.Error
					if assert.ErrorAs(t, err, &e) {
						assert.ErrorIs(t, err, fiscope.ErrUnavailable)
						assert.NotErrorIs(t, err, context.DeadlineExceeded)
						assert.Equal(t, 503, e.StatusCode)
						assert.Equal(t, "Y", e.Code)
						assert.Equal(t, time.Minute, e.RetryAfter)
						assert.Equal(t, 1, e.Attempts)
						assert.Equal(t, 503, resp.StatusCode)
					}
				}
				var wg sync.WaitGroup
				wg.Go(func() { impatient(time.Second) }) // whose query it is
				synctest.Wait()
				wg.Go(func() { impatient(time.Second) })
				wg.Go(func() {
					assert.NoError(t, operations["consultar"](t.Context(), client), "who has time gets the answer")
				})
				time.Sleep(30 * time.Second)
				wg.Go(func() { impatient(0) }) // who joins while it waits
				wg.Wait()
				assert.Len(t, s.seen(), 2)
				assert.EqualValues(t, 4, client.Stats().Calls)

				s = &service{answers: s.answers}
				client = newClient(t, s, opt, fiscope.WithRetry(retry))
				impatient(time.Second)
				time.Sleep(time.Hour)
				assert.Len(t, s.seen(), 1, "nobody is there to wait for another")
			})
		})
	}
}

func TestTheLimiterIsNotWaitedForBeyondTheDeadline(t *testing.T) {
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, price)}}
				client := newClient(t, s, opt, fiscope.WithRateLimit(0.1, 1))
				require.NoError(t, operations["tipocambio"](t.Context(), client))
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				start := time.Now()
				err := operations["consultar"](ctx, client)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
				assert.Zero(t, time.Since(start))
				assert.EqualValues(t, 1, client.Stats().Avoided[fiscope.AvoidedOutOfTime])
				time.Sleep(time.Minute)
				assert.Len(t, s.seen(), 1, "what was not sent when the last caller left is not sent")
			})
		})
	}
}

// With many workers, one looks into the cache before an answer is there, and asks after its query has
// ended.
func TestAQuestionOfManyWorkersIsPaidOnce(t *testing.T) {
	var queries atomic.Int64
	client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		queries.Add(1)
		return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-11:]))(r)
	}), fiscope.WithCache(fiscope.CachePolicy{}))
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range 1000 {
				_, err := client.Contribuyentes.Consultar(t.Context(), fmt.Sprintf("20%09d", i))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1000, queries.Load())
	assert.EqualValues(t, 64_000, client.Stats().Calls)
}

func TestJoiningAQueryMakesAtMost5Allocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					time.Sleep(time.Second)
					return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-11:]))(r)
				}), opt)
				const followers = 1000
				ask := func(ruc string) {
					if _, err := client.Contribuyentes.Consultar(t.Context(), ruc); err != nil {
						t.Error(err)
					}
				}
				perCall := func(ruc string) float64 {
					start := make(chan struct{})
					for range followers {
						go func() {
							<-start
							ask(ruc)
						}()
					}
					go ask(ruc)
					synctest.Wait()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					close(start)
					time.Sleep(2 * time.Second)
					synctest.Wait()
					runtime.ReadMemStats(&after)
					return float64(after.Mallocs-before.Mallocs) / followers
				}
				defer debug.SetGCPercent(debug.SetGCPercent(-1))
				perCall(rucEmisor) // what the runtime keeps for those that wait is made once, and by each collection
				assert.LessOrEqual(t, perCall(rucSUNAT), 5.2, "of who joins, with a share of the query's own")
				assert.EqualValues(t, 2*followers, client.Stats().Avoided[fiscope.AvoidedCoalesced])
			})
		})
	}
}
