package fiscope_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	brokenoff "github.com/fiscope/fiscope/internal/broken"
)

// after answers when d has passed, unless the request ends before.
func after(d time.Duration, answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return answer(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestARefusalIsLearnedThoughItsCallerLeft(t *testing.T) {
	refused := after(3*time.Second, raw(401, contract(t, "validar_401.json")))
	impatient := func(t *testing.T, client *fiscope.Client) error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return validar(ctx, client, clave)
	}
	t.Run("one after the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, refused)
			start := time.Now()
			for range 50 {
				assert.Error(t, impatient(t, client))
			}
			assert.Equal(t, 3*time.Second, time.Since(start), "the second learned it, the others are not sent")
			assert.Len(t, s.seen(), 1)
		})
	})
	t.Run("all at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, refused)
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { assert.ErrorIs(t, impatient(t, client), context.DeadlineExceeded) })
			}
			wg.Wait()
			for range 20 {
				time.Sleep(time.Second)
				assert.Error(t, impatient(t, client))
			}
			assert.Len(t, s.seen(), 1)
		})
	})
	t.Run("of a clave that was accepted a minute ago", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, raw(200, verdict), refused)
			require.NoError(t, validar(t.Context(), client, clave))
			time.Sleep(time.Minute)
			for range 50 {
				assert.Error(t, impatient(t, client))
			}
			assert.Len(t, s.seen(), 3, "one that proves it, one that its caller ended, and one whose refusal is learned")
			assert.ErrorIs(t, impatient(t, client), fiscope.ErrSOLCredentialsBlocked)
		})
	})
	t.Run("over a fleet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			client, s := fleetClient(t, store, apiKey, refused)
			require.ErrorIs(t, impatient(t, client), context.DeadlineExceeded)
			verdicts, settled := store.told()
			assert.Empty(t, verdicts)
			assert.Empty(t, settled)
			require.NoError(t, client.Close(t.Context()))
			verdicts, settled = store.told()
			assert.Equal(t, []fiscope.Verdict{fiscope.VerdictRefused}, verdicts)
			assert.Equal(t, []fiscope.Outcome{{Written: 1, StatusCode: 401}}, settled)
			assert.Len(t, s.seen(), 1)
		})
	})
}

func TestACallerWhoLeavesIsNotKept(t *testing.T) {
	for name, test := range map[string]struct {
		leave func(context.Context) (context.Context, context.CancelFunc)
		is    []error
	}{
		"by his deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, []error{context.DeadlineExceeded, fiscope.ErrUnavailable}},
		"by a cancel with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(2*time.Second, func() { cancel(io.ErrClosedPipe) })
			return ctx, func() { cancel(nil) }
		}, []error{context.Canceled, io.ErrClosedPipe}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var events []fiscope.Event
				s := &service{answers: []func(*http.Request) (*http.Response, error){after(3*time.Second, raw(401, contract(t, "validar_401.json")))}}
				client := newClient(t, s, fiscope.WithObserver(func(e fiscope.Event) {
					mu.Lock()
					defer mu.Unlock()
					events = append(events, e)
				}))
				ctx, cancel := test.leave(t.Context())
				defer cancel()
				start := time.Now()
				var resp fiscope.Response
				_, err := client.CPE.Validar(ctx, factura, credenciales, fiscope.WithResponse(&resp))
				assert.Equal(t, 2*time.Second, time.Since(start))
				for _, is := range test.is {
					require.ErrorIs(t, err, is)
				}
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
				assert.Equal(t, 1, e.Attempts)
				assert.Zero(t, e.StatusCode)
				want := fiscope.Response{Attempts: 1, Duration: 2 * time.Second}
				assert.Equal(t, want, resp)

				require.NoError(t, client.Close(t.Context()))
				assert.Equal(t, want, resp, "what he has is not written again")
				require.Len(t, events, 1)
				assert.Equal(t, 401, events[0].StatusCode)
				stats := client.Stats()
				assert.Equal(t, [4]int64{1, 1, 0, 1}, [4]int64{stats.Calls, stats.Attempts, stats.Retries, stats.Sent})
				assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
			})
		})
	}
}

// panicValue returns what was panicked with, also where that was in a goroutine of the client's.
func panicValue(recovered any) any {
	if p, ok := recovered.(*brokenoff.Panic); ok {
		return p.Value
	}
	return recovered
}

// TestACallerWhoPanicsOrExits leaves by what runs for the call: the observer, the transport.
func TestACallerWhoPanicsOrExits(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic":  func() { panic("in the caller's code") },
		"Goexit": runtime.Goexit,
	} {
		left := func(f func() error) (panicked any, returned bool) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { panicked = recover() }()
				_ = f()
				returned = true
			}()
			<-done
			return panicked, returned
		}
		check := func(t *testing.T, client *fiscope.Client) {
			t.Helper()
			panicked, returned := left(func() error { return validar(t.Context(), client, clave) })
			assert.False(t, returned)
			if name == "panic" {
				assert.Equal(t, "in the caller's code", panicValue(panicked))
				assert.Contains(t, fmt.Sprint(panicked), "TestACallerWhoPanicsOrExits", "the stack of who panicked")
			}
		}
		t.Run(name+" of the observer", func(t *testing.T) {
			var again atomic.Bool
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(401, contract(t, "validar_401.json"))}}
			client := newClient(t, s, fiscope.WithObserver(func(fiscope.Event) {
				if !again.Swap(true) {
					leave()
				}
			}))
			check(t, client)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
			assert.Len(t, s.seen(), 1)
		})
		t.Run(name+" of the transport", func(t *testing.T) {
			leaves := func(*http.Request) (*http.Response, error) {
				leave()
				return nil, io.ErrUnexpectedEOF
			}
			client, s := answers(t, leaves, raw(200, verdict))
			check(t, client)
			require.NoError(t, validar(t.Context(), client, clave), "the turn is free")
			assert.Len(t, s.seen(), 2)
		})
		t.Run(name+" when nobody waits", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s := &service{answers: []func(*http.Request) (*http.Response, error){after(time.Second, func(*http.Request) (*http.Response, error) {
					leave()
					return nil, io.ErrUnexpectedEOF
				}), raw(200, verdict)}}
				client := newClient(t, s, fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				require.ErrorIs(t, validar(ctx, client, clave), context.DeadlineExceeded)
				require.NoError(t, validar(t.Context(), client, clave))
				assert.Len(t, s.seen(), 2)
				require.NoError(t, client.Close(t.Context()))
				assert.Equal(t, name == "panic", strings.Contains(log.String(), "in the caller's code"), "a panic is not lost")
			})
		})
	}
}

// The observer is told of an answer that is in hand: that the context ends meanwhile takes it from nobody.
func TestACallerWhoLeavesWithTheAnswerInHandGetsIt(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		is     error // nil for a result
	}{
		"a refusal": {raw(401, contract(t, "validar_401.json")), fiscope.ErrInvalidSOLCredentials},
		"a failure": {raw(503, ""), fiscope.ErrUnavailable},
		"a verdict": {raw(200, verdict), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := &service{answers: []func(*http.Request) (*http.Response, error){test.answer}}
				client := newClient(t, s, fiscope.WithObserver(func(fiscope.Event) {
					cancel()
					time.Sleep(time.Second) // until the caller has seen it
				}))
				err := validar(ctx, client, clave)
				require.ErrorIs(t, err, test.is)
				require.NotErrorIs(t, err, context.Canceled)
			})
		})
	}
}

func TestThoseWhoWaitWaitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, after(3*time.Second, raw(200, verdict)), raw(200, verdict))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, validar(ctx, client, clave), context.Canceled) })
		synctest.Wait()
		start := time.Now()
		for range 100 {
			wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) })
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		assert.Len(t, s.seen(), 1)
		wg.Wait()
		assert.Equal(t, 3*time.Second, time.Since(start), "an acceptance is learned, too")
		assert.Len(t, s.seen(), 101)
	})
}

func TestWhatWasNotSentEndsWithItsCaller(t *testing.T) {
	wait := fiscope.WithRateLimit(1.0/60, 1) // one a minute
	for name, again := range map[string]func(context.Context, *fiscope.Client) error{
		"the turn":       func(ctx context.Context, c *fiscope.Client) error { return validar(ctx, c, clave) },
		"the quota slot": func(ctx context.Context, c *fiscope.Client) error { return operations["consultar"](ctx, c) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record), raw(200, verdict)}}
				client := newClient(t, s, wait)
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
				assert.Equal(t, 0, e.Attempts)
				assert.EqualValues(t, 1, client.Stats().Avoided[fiscope.AvoidedOutOfTime])
				time.Sleep(time.Hour)
				assert.Len(t, s.seen(), 1)
				_ = again(t.Context(), client)
				assert.Len(t, s.seen(), 2, "it is given back")
			})
		})
	}
}

// stalls is a body that ends with its request.
type stalls struct {
	*bytes.Reader
	ctx context.Context
}

func (s stalls) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (stalls) Close() error { return nil }

// stalled is an answer whose body never ends.
func stalled(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: -1, Body: stalls{bytes.NewReader([]byte(body)), r.Context()}}, nil
	}
}

func TestA401WhoseBodyStallsIsARefusal(t *testing.T) {
	for name, body := range map[string]string{"no body": "", "half of it": `{"error":"x","code":"INVALID_SOL_`, "all but its end": contract(t, "validar_401.json")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, stalled(401, body))
				err := validar(t.Context(), client, clave)
				assert.True(t, errors.Is(err, fiscope.ErrUnauthorized) || errors.Is(err, fiscope.ErrInvalidSOLCredentials), "%v", err)
				for range 20 {
					assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
				}
				assert.Len(t, s.seen(), 1)
			})
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, raw(200, verdict), stalled(401, body))
				require.NoError(t, validar(t.Context(), client, clave))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.ErrorIs(t, validar(ctx, client, clave), context.DeadlineExceeded)
				for range 20 {
					assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked, "of a proven one whose caller left")
				}
				assert.Len(t, s.seen(), 2)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, stalled(401, ""))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded, "the caller's own end comes first")
	})
}

// The query that used up the day may be the one whose clave was refused: only a whole answer can say that it
// tells of the quota alone.
func TestARefusalThatBreaksOffOnTheLastQueryOfTheDayIsARefusal(t *testing.T) {
	full := contract(t, "validar_401.json")
	cut := func(r *http.Request) (*http.Response, error) {
		return with(401, io.NopCloser(io.MultiReader(strings.NewReader(full[:len(full)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))))(r)
	}
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"stalled, without a body": stalled(401, ""),
		"stalled":                 stalled(401, full[:len(full)/2]),
		"cut":                     cut,
		"whole":                   raw(401, full),
	} {
		for _, opts := range [][]fiscope.Option{nil, {fiscope.WithoutQuotaGate()}} {
			t.Run(fmt.Sprint(name, ", options: ", len(opts)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
						resp, err := answer(r)
						resp.Header.Set("X-RateLimit-Remaining", "0")
						resp.Header.Set("X-RateLimit-Reset", time.Now().Add(20*time.Hour).UTC().Format(time.RFC3339))
						return resp, err
					}}}
					client := newClient(t, s, opts...)
					for range 20 {
						assert.Error(t, validar(t.Context(), client, clave))
						time.Sleep(time.Hour)
					}
					assert.Len(t, s.seen(), 1)
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
		short, cancelShort := context.WithTimeoutCause(t.Context(), time.Second, io.ErrNoProgress)
		defer cancelShort()
		require.ErrorIs(t, client.Close(short), io.ErrNoProgress)
		assert.Equal(t, time.Second, time.Since(start))

		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { assert.NoError(t, client.Close(t.Context())) })
		}
		wg.Wait()
		assert.Equal(t, 2*time.Second, time.Since(start))
		require.NoError(t, client.Close(t.Context()), "again")
		assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked, "later calls are made as before")
		assert.Len(t, s.seen(), 1)
	})
	t.Run("a query for the cache", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){after(3*time.Second, raw(200, record))}}
			client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
			start := time.Now()
			require.NoError(t, client.Close(t.Context()))
			assert.Equal(t, 2*time.Second, time.Since(start))
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.Len(t, s.seen(), 1)
		})
	})
	t.Run("over a socket", func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		received, release := make(chan struct{}), make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(received)
			<-release
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, contract(t, "validar_401.json"))
		}))
		client, err := fiscope.NewClient(srv.URL, apiKey)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-received
			cancel()
		}()
		require.ErrorIs(t, validar(ctx, client, clave), context.Canceled)
		close(release)
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		srv.Close()
		goleak.VerifyNone(t, before)
	})
}
