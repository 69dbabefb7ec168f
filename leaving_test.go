package fiscope_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
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

// Those who share a query that breaks off get an error that says so, and it is logged once, without a secret.
func TestAPanicOfASharedQueryIsAnError(t *testing.T) {
	for by, opt := range coalesced {
		for how, leave := range map[string]func(){"boom": func() { panic("boom") }, "runtime.Goexit": runtime.Goexit} {
			t.Run(how+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log bytes.Buffer
					var s spans
					client, far := newChangingClient(t, func(*http.Request) (*http.Response, error) {
						time.Sleep(time.Second)
						leave()
						return nil, nil
					}, opt, fiscope.WithHook(s.hook), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
					together(4, func(n int) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if n == 0 { // also if the caller that began it left
							time.AfterFunc(time.Second/2, cancel)
						}
						err := operations["consultar"](ctx, client)
						var e *fiscope.Error
						assert.ErrorAs(t, err, &e)
						if ctx.Err() == nil {
							assert.Equal(t, "other", fiscope.ErrorClass(err))
							assert.ErrorContains(t, err, how)
						}
					})
					assert.LessOrEqual(t, bytes.Count(log.Bytes(), []byte("panic=boom")), 1)
					assert.Equal(t, how == "boom", bytes.Contains(log.Bytes(), []byte("leaving_test.go")), "the stack of what panicked")
					assert.Len(t, s.seen(t), 4)
					far.become(raw(200, record))
					require.NoError(t, operations["consultar"](t.Context(), client), "the next call works")
				})
			})
		}
	}
}

// A panic of a log itself ends no process.
func TestAPanicThatCannotBeLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := func() { panic("no log, " + apiKey) }
		client, _ := newChangingClient(t, func(*http.Request) (*http.Response, error) { panic("boom") }, fiscope.WithCoalescing(), fiscope.WithLogger(slog.New(logs(panics))))
		require.ErrorContains(t, operations["consultar"](t.Context(), client), "boom")
		require.NoError(t, client.Close(t.Context()))
	})
}

// What waits to be sent gives back what it holds when its caller leaves, and is not sent.
func TestWhatWasNotSentEndsWithItsCaller(t *testing.T) {
	for name, again := range map[string]func(context.Context, *fiscope.Client) error{
		"the clave is free": func(ctx context.Context, c *fiscope.Client) error { return validar(ctx, c, clave) },
		"the query is left": func(ctx context.Context, c *fiscope.Client) error { return operations["consultar"](ctx, c) },
	} {
		for with, opts := range map[string][]fiscope.Option{"alone": nil, "a Store": {fiscope.WithStore(newMemoryStore())}} {
			t.Run(name+", "+with, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					one := raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: "+inAnHour())
					s := &service{answers: []handler{one, raw(200, verdict)}}
					client := newClient(t, s, append(opts, fiscope.WithRateLimit(1.0/60, 1), fiscope.WithoutQuotaGate())...)
					if name == "the query is left" {
						client = newClient(t, s, append(opts, fiscope.WithRateLimit(1.0/60, 1))...)
					}
					require.NoError(t, operations["consultar"](t.Context(), client))
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, cancel)
					start := time.Now()
					err := validar(ctx, client, clave)
					require.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, time.Second, time.Since(start))
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
					assert.Zero(t, e.Attempts)
					time.Sleep(10 * time.Minute)
					assert.Len(t, s.seen(), 1)
					_ = again(t.Context(), client)
					assert.Len(t, s.seen(), 2)
				})
			})
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
