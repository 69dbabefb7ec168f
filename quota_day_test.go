package fiscope_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// The service keeps one day and one count; only how it writes the reset differs.
func TestAResetThatTremblesIsOfOneDay(t *testing.T) {
	const quota, reserve = 1000, 200
	end := time.Date(2000, 1, 1, 20, 0, 0, 0, time.UTC)
	tremble := func(random *rand.Rand, by time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(2*by))) - by
	}
	for name, reset := range map[string]func(*rand.Rand) time.Time{
		"by a millisecond":      func(r *rand.Rand) time.Time { return end.Add(tremble(r, time.Millisecond)) },
		"by some seconds":       func(r *rand.Rand) time.Time { return end.Add(tremble(r, 5*time.Second)) },
		"by some minutes":       func(r *rand.Rand) time.Time { return end.Add(tremble(r, 20*time.Minute)) },
		"always a day from now": func(*rand.Rand) time.Time { return time.Now().Add(24 * time.Hour) },
		"about a day from now":  func(r *rand.Rand) time.Time { return time.Now().Add(24*time.Hour + tremble(r, time.Second)) },
		"earlier with every answer": func(*rand.Rand) time.Time {
			return end.Add(-time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / 1000)
		},
		"not at all":                 func(*rand.Rand) time.Time { return end },
		"by a day, to and fro, once": func(r *rand.Rand) time.Time { return end.Add(time.Duration(r.IntN(1000)/999) * 24 * time.Hour) },
	} {
		for _, workers := range []int{1, 16} {
			t.Run(fmt.Sprint(name, ", workers: ", workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(uint64(workers), 7))
					var mu sync.Mutex
					m := &metered{t: t}
					m.reset = func() string {
						mu.Lock()
						defer mu.Unlock()
						return reset(random).Format("2006-01-02T15:04:05.000Z07:00")
					}
					m.delay = func() time.Duration {
						mu.Lock()
						defer mu.Unlock()
						return time.Duration(random.IntN(2000)) * time.Millisecond
					}
					m.left.Store(quota)
					client := newClient(t, m, fiscope.WithQuotaReserve(reserve))
					var answered atomic.Int64
					var wg sync.WaitGroup
					for range workers {
						wg.Go(func() {
							for operations["consultar"](t.Context(), client) == nil {
								answered.Add(1)
								time.Sleep(10 * time.Second)
							}
						})
					}
					wg.Wait()
					assert.LessOrEqual(t, answered.Load(), int64(quota-reserve))
					assert.GreaterOrEqual(t, answered.Load(), int64(quota-reserve-5))
					assert.Zero(t, m.refused.Load())
				})
			})
		}
	}
}

// Each answer says that its day has 24 hours from now on: after an hour or two without a query, that is far
// from what the last one said.
func TestAResetThatIsPutOffByEveryAnswerKeepsTheReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: func() string { return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }}
		m.left.Store(300)
		slower := atomic.Int64{}
		m.delay = func() time.Duration { return time.Duration(slower.Add(1)) * time.Millisecond }
		client := newClient(t, m, fiscope.WithQuotaReserve(200))
		require.NoError(t, operations["consultar"](t.Context(), client))
		for range 4 {
			time.Sleep(2 * time.Hour)
			together(90, func(int) { _ = operations["consultar"](t.Context(), client) })
		}
		assert.EqualValues(t, 200, m.left.Load())
	})
}

// late is an answer of yesterday that is read on the new day.
type late struct {
	status     int
	remaining  string
	reset      string // "" for none
	body       string
	beginsLate bool // the attempt begins on the new day: the service's clock is behind ours
}

func TestALateAnswerOfYesterdayChangesNothingOfTheNewDay(t *testing.T) {
	const yesterday, tomorrow = "2000-01-01T01:00:00Z", "2000-01-02T01:00:00Z"
	record := contract(t, "consultar_200.json")
	for name, yesterdays := range map[string]late{
		"its reset is past":                      {200, "0", yesterday, record, false},
		"its reset is past, and it is an error":  {429, "0", yesterday, `{"error":"no"}`, false},
		"its reset is past, and it is a 404":     {404, "0", yesterday, contract(t, "consultar_404.json"), false},
		"below zero":                             {200, "-1", yesterday, record, false},
		"it tells the new day's reset":           {200, "0", tomorrow, record, false},
		"it tells none":                          {200, "0", "", record, false},
		"its reset is trembling":                 {200, "0", "2000-01-01T00:59:58Z", record, false},
		"its attempt began after the reset":      {200, "0", yesterday, record, true},
		"its attempt began after, and is an 404": {404, "0", yesterday, contract(t, "consultar_404.json"), true},
	} {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", the new day is known: ", known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var phase atomic.Int64
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						switch phase.Add(1) {
						case 1:
							return raw(200, record, "X-RateLimit-Remaining: 500", "X-RateLimit-Reset: "+yesterday)(r)
						case 2:
							time.Sleep(20 * time.Second)
							headers := []string{"X-RateLimit-Remaining: " + yesterdays.remaining}
							if yesterdays.reset != "" {
								headers = append(headers, "X-RateLimit-Reset: "+yesterdays.reset)
							}
							return raw(yesterdays.status, yesterdays.body, headers...)(r)
						}
						return raw(200, record, "X-RateLimit-Remaining: 6", "X-RateLimit-Reset: "+tomorrow)(r)
					}), fiscope.WithQuotaReserve(5))
					require.NoError(t, operations["consultar"](t.Context(), client))
					time.Sleep(time.Hour - 10*time.Second)
					if yesterdays.beginsLate {
						time.Sleep(11 * time.Second)
					}
					var resp fiscope.Response
					var err error
					var wg sync.WaitGroup
					wg.Go(func() { err = operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)) })
					time.Sleep(15 * time.Second)
					if known {
						require.NoError(t, operations["consultar"](t.Context(), client)) // the new day, 6 left
					}
					wg.Wait()
					require.NoError(t, operations["consultar"](t.Context(), client), "6 are more than the reserve of 5")

					shown := 0
					if yesterdays.remaining == "-1" {
						shown = fiscope.NoHeader
					}
					require.NotNil(t, resp.RateLimit)
					assert.Equal(t, shown, resp.RateLimit.Remaining, "RateLimit shows what it said")
					var e *fiscope.Error
					if errors.As(err, &e) {
						assert.Equal(t, shown, e.RateLimit.Remaining)
					}
				})
			})
		}
	}
	t.Run("and the client shows it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := answers(t, raw(200, record, "X-RateLimit-Remaining: 6", "X-RateLimit-Reset: "+tomorrow),
				raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1999-12-31T23:00:00Z"))
			for range 3 {
				require.NoError(t, operations["consultar"](t.Context(), client))
			}
			assert.Equal(t, 0, client.RateLimit().Remaining)
		})
	})
	t.Run("and a store is told of which day it is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			client, _ := fleetClient(t, store, apiKey, raw(200, verdict, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1999-12-31T23:00:00Z"))
			require.NoError(t, operations["validar"](t.Context(), client))
			require.NoError(t, client.Close(t.Context()))
			require.Len(t, store.settled, 1)
			assert.Equal(t, time.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC), store.settled[0].RateLimit.Reset)
		})
	})
}

func TestAReserveIsKeptFromOperationsWithoutHeaders(t *testing.T) {
	for name, test := range map[string]struct {
		client, call []fiscope.QuotaOption
	}{
		"of the client":           {[]fiscope.QuotaOption{fiscope.WithQuotaReserve(5)}, nil},
		"of the call":             {nil, []fiscope.QuotaOption{fiscope.WithQuotaReserve(5)}},
		"of the call, over 0":     {[]fiscope.QuotaOption{fiscope.WithQuotaReserve(0)}, []fiscope.QuotaOption{fiscope.WithQuotaReserve(5)}},
		"of the call, over other": {[]fiscope.QuotaOption{fiscope.WithQuotaReserve(9)}, []fiscope.QuotaOption{fiscope.WithQuotaReserve(5)}},
	} {
		for _, op := range []string{"tipocambio", "hoy", "buscar", "validar"} {
			for _, together := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", ", op, ", together: ", together), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						left := 11
						var mu sync.Mutex
						var opts []fiscope.Option
						for _, o := range test.client {
							opts = append(opts, o)
						}
						var call []fiscope.CallOption
						for _, o := range test.call {
							call = append(call, o)
						}
						client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
							mu.Lock()
							left--
							now := left
							mu.Unlock()
							time.Sleep(time.Second)
							if r.URL.Path == "/api/contribuyentes/"+rucSUNAT {
								return raw(200, record, fmt.Sprint("X-RateLimit-Remaining: ", now), "X-RateLimit-Reset: 2000-01-01T20:00:00Z")(r)
							}
							body := map[string]string{"tipocambio": "tipocambio_200.json", "hoy": "tipocambio_200.json", "buscar": "buscar_200.json", "validar": "validar_200_aceptado.json"}[op]
							return raw(200, contract(t, body))(r)
						}), opts...)
						require.NoError(t, operations["consultar"](t.Context(), client)) // 10 left
						var answered atomic.Int64
						var wg sync.WaitGroup
						for range 10 {
							ask := func() {
								err := operations[op](t.Context(), client, call...)
								if err == nil {
									answered.Add(1)
									return
								}
								var e *fiscope.Error
								assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
								if assert.ErrorAs(t, err, &e) {
									assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
									assert.Equal(t, time.Until(time.Date(2000, 1, 1, 20, 0, 0, 0, time.UTC)), e.RetryAfter)
								}
							}
							if together {
								wg.Go(ask)
							} else {
								ask()
							}
						}
						wg.Wait()
						assert.EqualValues(t, 5, answered.Load())
						assert.Equal(t, 5, left)
						if op == "tipocambio" {
							require.NoError(t, operations[op](t.Context(), client, fiscope.WithQuotaReserve(0)), "another call may use it")
						}
					})
				})
			}
		}
	}
	t.Run("what failed may have been free, and closes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSays(t, "10", 20*time.Hour)
			client := newClient(t, s, fiscope.WithQuotaReserve(5), fiscope.WithRetry(noRetries()))
			require.NoError(t, operations["consultar"](t.Context(), client))
			s.now(503, "", 0)
			for range 20 {
				require.ErrorIs(t, operations["tipocambio"](t.Context(), client), fiscope.ErrUnavailable)
			}
			s.now(200, "", 0)
			require.NoError(t, operations["tipocambio"](t.Context(), client))
		})
	})
}

// A lookup is under way while rates are answered: its header, of before them, does not count them.
func TestAHeaderDoesNotCountWhatEndedAfterItsAttemptBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSays(t, "9", 20*time.Hour)
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/api/tipocambio" {
				return raw(200, contract(t, "tipocambio_200.json"))(r)
			}
			return s.RoundTrip(r)
		}), fiscope.WithQuotaReserve(5))
		require.NoError(t, operations["consultar"](t.Context(), client)) // 9 left
		s.now(200, "8", 20*time.Hour)
		s.delay = 10 * time.Second
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) }) // 8 left
		synctest.Wait()
		for range 3 {
			require.NoError(t, operations["tipocambio"](t.Context(), client)) // 5 left
		}
		wg.Wait()
		require.ErrorIs(t, operations["tipocambio"](t.Context(), client), fiscope.ErrQuotaExceeded)
	})
}

func TestARemainingBelowZeroClosesTheGate(t *testing.T) {
	for _, remaining := range []string{"-1", " -1 ", "-250", "-99999999999999999999"} {
		for op, do := range operations {
			t.Run(remaining+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client, s := answers(t, raw(200, record, "X-RateLimit-Remaining: "+remaining, "X-RateLimit-Reset: 2000-01-01T05:00:00Z"))
					var resp fiscope.Response
					require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
					assert.Equal(t, fiscope.NoHeader, resp.RateLimit.Remaining)
					assert.Contains(t, fmt.Sprint(resp.Warnings), "X-Ratelimit-Remaining")
					assert.Equal(t, fiscope.NoHeader, client.RateLimit().Remaining)
					require.ErrorIs(t, do(t.Context(), client), fiscope.ErrQuotaExceeded)
					assert.Len(t, s.seen(), 1)
				})
			})
		}
	}
	t.Run("and a store is told that nothing is left", func(t *testing.T) {
		store := newFleetStore()
		client, _ := fleetClient(t, store, apiKey, raw(200, verdict, "X-RateLimit-Remaining: -1"))
		require.NoError(t, operations["validar"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.settled, 1)
		assert.Zero(t, store.settled[0].RateLimit.Remaining)
	})
}

func TestASpentQuotaThatIsToldBy401Or403(t *testing.T) {
	spent := []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"}
	for name, test := range map[string]struct {
		body    string
		headers []string
		is      error // of a lookup
		blocks  bool  // the clave
	}{
		"without a code":         {`{"error":"cuota agotada"}`, spent, fiscope.ErrQuotaExceeded, false},
		"a code of its own":      {`{"error":"cuota agotada","code":"QUOTA_EXCEEDED"}`, spent, fiscope.ErrQuotaExceeded, false},
		"no body":                {"", spent, fiscope.ErrQuotaExceeded, false},
		"a page":                 {"<html><title>Forbidden</title></html>", spent, fiscope.ErrQuotaExceeded, false},
		"below zero":             {"", []string{"X-RateLimit-Remaining: -1", spent[1]}, fiscope.ErrQuotaExceeded, false},
		"the contract's code":    {contract(t, "validar_401.json"), spent, fiscope.ErrInvalidSOLCredentials, true},
		"some are left":          {"", []string{"X-RateLimit-Remaining: 1", spent[1]}, fiscope.ErrUnauthorized, true},
		"no reset":               {"", spent[:1], fiscope.ErrUnauthorized, true},
		"a reset that is past":   {"", []string{spent[0], "X-RateLimit-Reset: 1999-12-31T05:00:00Z"}, fiscope.ErrUnauthorized, true},
		"no headers":             {"", nil, fiscope.ErrUnauthorized, true},
		"a remaining that is no": {"", []string{"X-RateLimit-Remaining: none", spent[1]}, fiscope.ErrUnauthorized, true},
	} {
		for _, status := range []int{401, 403} {
			for op, do := range operations {
				t.Run(fmt.Sprint(name, " ", status, " ", op), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						client, s := answers(t, raw(status, test.body, test.headers...),
							raw(200, contract(t, "validar_200_aceptado.json")))
						err := do(t.Context(), client)
						require.ErrorIs(t, err, test.is)
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, status, e.StatusCode)
						assert.Equal(t, fiscope.DeliveryAnswered, e.Delivery)
						if errors.Is(err, fiscope.ErrQuotaExceeded) {
							assert.NotErrorIs(t, err, fiscope.ErrUnauthorized)
							assert.NotContains(t, err.Error(), "API key")
							require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrQuotaExceeded, "the gate is closed")
							assert.Len(t, s.seen(), 1)
						}
						if op != "validar" {
							return
						}
						time.Sleep(5 * time.Hour)
						err = operations["validar"](t.Context(), client)
						if test.blocks && (status == 401 || errors.Is(test.is, fiscope.ErrInvalidSOLCredentials)) {
							require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
						} else {
							require.NoError(t, err, "the clave is not blocked")
						}
					})
				})
			}
		}
	}
}

func TestARetryThatTheQuotaRefusesLeavesTheErrorBefore(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"spent": nil, "in reserve": {fiscope.WithQuotaReserve(5)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, s := answers(t, raw(503, `{"error":"en mantenimiento"}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"))
				client := newClient(t, s, opts...)
				err := operations["consultar"](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				require.NotErrorIs(t, err, fiscope.ErrQuotaExceeded)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, 503, e.StatusCode)
				assert.Equal(t, 1, e.Attempts)
				assert.Equal(t, "en mantenimiento", e.Message)
				assert.Len(t, s.seen(), 1)
				require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
			})
		})
	}
}

func TestTheRateLimitOfAnErrorIsTheCallersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told *fiscope.RateLimit
		s := newSays(t, "3", time.Hour)
		s.now(404, "3", time.Hour)
		client := newClient(t, s, fiscope.WithObserver(func(e fiscope.Event) { told = e.RateLimit }))
		var resp fiscope.Response
		err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		for _, mine := range []*fiscope.RateLimit{e.RateLimit, resp.RateLimit, told, client.RateLimit()} {
			require.Equal(t, 3, mine.Remaining, "nobody else's change is in it")
			mine.Remaining = 1000
		}
		assert.Equal(t, 3, client.RateLimit().Remaining)
	})
}
