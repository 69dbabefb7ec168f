package fiscope_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	form "github.com/fiscope/fiscope/internal/stored"
)

// troubled is a Store whose methods can be made to do something before they answer.
type troubled struct {
	*fleetStore
	mu      sync.Mutex
	trouble map[string]func(context.Context) // by method, or "" for all
	asked   map[string]int
}

func newTroubled(trouble map[string]func(context.Context)) *troubled {
	return &troubled{fleetStore: newFleetStore(), trouble: trouble, asked: map[string]int{}}
}

func (s *troubled) meets(ctx context.Context, method string) error {
	s.mu.Lock()
	s.asked[method]++
	trouble := s.trouble[method]
	if trouble == nil {
		trouble = s.trouble[""]
	}
	s.mu.Unlock()
	if trouble != nil {
		trouble(ctx)
	}
	return ctx.Err()
}

func (s *troubled) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

func (s *troubled) becomes(trouble map[string]func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

func (s *troubled) Load(ctx context.Context, key string) ([]byte, error) {
	if err := s.meets(ctx, "Load"); err != nil {
		return nil, err
	}
	return s.fleetStore.Load(ctx, key)
}

func (s *troubled) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return unless(s.meets(ctx, "Save"), func() error { return s.fleetStore.Save(ctx, key, value, ttl) })
}

func (s *troubled) Reserve(ctx context.Context, account string, keep int) (fiscope.Reservation, error) {
	if err := s.meets(ctx, "Reserve"); err != nil {
		return fiscope.Reservation{}, err
	}
	return s.fleetStore.Reserve(ctx, account, keep)
}

func (s *troubled) Settle(ctx context.Context, account string, r fiscope.Reservation, o fiscope.Outcome) error {
	return unless(s.meets(ctx, "Settle"), func() error { return s.fleetStore.Settle(ctx, account, r, o) })
}

func (s *troubled) Claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	if err := s.meets(ctx, "Claim"); err != nil {
		return fiscope.Claim{}, err
	}
	return s.fleetStore.Claim(ctx, credential, hold)
}

func (s *troubled) Conclude(ctx context.Context, credential string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	return unless(s.meets(ctx, "Conclude"), func() error { return s.fleetStore.Conclude(ctx, credential, c, v, memory) })
}

func (s *troubled) Forget(ctx context.Context, credential string) error {
	return unless(s.meets(ctx, "Forget"), func() error { return s.fleetStore.Forget(ctx, credential) })
}

func unless(err error, otherwise func() error) error {
	if err != nil {
		return err
	}
	return otherwise()
}

// hanging is deaf but for its context.
func hanging(ctx context.Context) { <-ctx.Done() }

// storeOperations are the operations that use a Store, with and without a cache.
var storeOperations = map[string][]fiscope.Option{
	"consultar":                nil,
	"consultar with a cache":   {fiscope.WithCache(fiscope.CachePolicy{})},
	"consultar, coalesced":     {fiscope.WithCoalescing()},
	"buscar with a cache":      {fiscope.WithCache(fiscope.CachePolicy{})},
	"tipocambio with a cache":  {fiscope.WithCache(fiscope.CachePolicy{})},
	"validar":                  nil,
	"validar beside a cache":   {fiscope.WithCache(fiscope.CachePolicy{})},
	"validar, never gated":     {fiscope.WithoutQuotaGate()},
	"consultar, tried 3 times": {fiscope.WithRetry(fiscope.DefaultRetryPolicy())},
}

func opOf(name string) string {
	op, _, _ := strings.Cut(name, " ")
	return strings.TrimSuffix(op, ",")
}

func TestAStoreThatHangsStopsNobody(t *testing.T) {
	for name, opts := range storeOperations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := opOf(name)
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
				store := newTroubled(map[string]func(context.Context){"": hanging})
				client := newClient(t, s, append(opts, fiscope.WithStore(store))...)
				start := time.Now()
				require.NoError(t, operations[op](t.Context(), client))
				assert.LessOrEqual(t, time.Since(start), 6500*time.Millisecond, "a second for Load, a few for Reserve and Claim")
				assert.Len(t, s.seen(), 1)

				start = time.Now()
				require.NoError(t, operations[op](t.Context(), client))
				assert.Zero(t, time.Since(start), "then it is left alone")

				require.NoError(t, client.Close(t.Context()))
				assert.LessOrEqual(t, time.Since(start), 2*time.Second)

				time.Sleep(time.Minute)
				store.becomes(nil)
				asked := store.count("Reserve") + store.count("Claim")
				before := len(s.seen())
				require.NoError(t, operations[op](t.Context(), client, fiscope.WithoutCache()))
				if op != "validar" || name == "validar" {
					assert.Greater(t, store.count("Reserve")+store.count("Claim"), asked, "when it is well it is asked again")
				}
				assert.Len(t, s.seen(), before+1)
			})
		})
	}
}

func TestACallerWithADeadlineIsAnsweredThoughTheStoreHangs(t *testing.T) {
	for _, deadline := range []time.Duration{3 * time.Second, 5 * time.Second, 10 * time.Second, time.Minute} {
		for _, op := range []string{"consultar", "validar"} {
			t.Run(fmt.Sprint(op, " within ", deadline), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
					client := newClient(t, s, fiscope.WithStore(newTroubled(map[string]func(context.Context){"": hanging})))
					ctx, cancel := context.WithTimeout(t.Context(), deadline)
					defer cancel()
					require.NoError(t, operations[op](ctx, client))
				})
			})
		}
	}
	for _, deadline := range []time.Duration{1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 3900 * time.Millisecond, time.Minute} {
		for name, opts := range storeOperations {
			for _, method := range []string{"Load", "Reserve", ""} {
				if opOf(name) == "validar" {
					continue
				}
				t.Run(fmt.Sprint(name, " within ", deadline, " where it hangs in ", method), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						client := newClient(t, roundTripper(raw(200, contract(t, fileOf[opOf(name)]))),
							append(opts, fiscope.WithStore(newTroubled(map[string]func(context.Context){method: hanging})))...)
						ctx, cancel := context.WithTimeout(t.Context(), deadline)
						defer cancel()
						require.NoError(t, operations[opOf(name)](ctx, client))
					})
				})
			}
		}
	}
	t.Run("who waits for less does not decide that it hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(2 * time.Second) }})
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, s, fiscope.WithStore(store))
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			require.NoError(t, operations["consultar"](ctx, client))
			start := time.Now()
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.Equal(t, 2*time.Second, time.Since(start), "who has time waits for its answer")
			require.NoError(t, client.Close(t.Context()))
			_, settled := store.told()
			assert.ElementsMatch(t, []fiscope.Outcome{{}, {Written: 1, StatusCode: 200}}, settled)
		})
	})
	t.Run("one who never has time enough, but for the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, s, fiscope.WithStore(newTroubled(map[string]func(context.Context){"": hanging})))
			failed := 0
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				start := time.Now()
				if operations["consultar"](ctx, client) != nil {
					failed++
				}
				assert.LessOrEqual(t, time.Since(start), 500*time.Millisecond)
				cancel()
				time.Sleep(100 * time.Millisecond)
			}
			assert.Less(t, failed, 30, "of 200 in 20 seconds")
		})
	})
}

// Where only the telling hangs, the questions are asked as ever.
func TestWhatIsOnlyToldIsOffTheCallersPath(t *testing.T) {
	for name, opts := range storeOperations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := opOf(name)
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
				store := newTroubled(map[string]func(context.Context){"Save": hanging, "Settle": hanging, "Conclude": hanging})
				client := newClient(t, s, append(opts, fiscope.WithStore(store))...)
				start := time.Now()
				for range 11 {
					require.NoError(t, operations[op](t.Context(), client, fiscope.WithoutCache()))
				}
				assert.Zero(t, time.Since(start))
				if op == "consultar" {
					assert.Equal(t, 11, store.count("Reserve"), "it is asked all the same")
				}
				require.NoError(t, client.Close(t.Context()))
				assert.LessOrEqual(t, time.Since(start), 1100*time.Millisecond)
				told := store.count("Save") + store.count("Settle") + store.count("Conclude")
				time.Sleep(time.Minute)
				assert.Equal(t, told, store.count("Save")+store.count("Settle")+store.count("Conclude"), "Close waited for all of it")
			})
		})
	}
	t.Run("a refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(401, contract(t, "validar_401.json"))}}
			store := newTroubled(map[string]func(context.Context){"Conclude": hanging})
			client := newClient(t, s, fiscope.WithStore(store))
			start := time.Now()
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
			assert.Equal(t, 50*time.Millisecond, time.Since(start), "it is waited for a moment")
			require.ErrorIs(t, validar(t.Context(), client, "otra"), fiscope.ErrInvalidSOLCredentials)
			assert.Equal(t, 100*time.Millisecond, time.Since(start), "the next one too")
			require.Error(t, client.Close(t.Context()), "it could not be told")
			assert.LessOrEqual(t, time.Since(start), 3*time.Second)
			store.becomes(nil)
			require.NoError(t, client.Close(t.Context()))
			verdicts, _ := store.told()
			assert.NotContains(t, verdicts, fiscope.VerdictProven)
			assert.Len(t, s.seen(), 2)
		})
	})
	t.Run("Olvidar", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, roundTripper(hangs), fiscope.WithStore(newTroubled(map[string]func(context.Context){"": hanging})))
			start := time.Now()
			client.CPE.Olvidar(credenciales)
			assert.LessOrEqual(t, time.Since(start), time.Second)
		})
	})
}

// A cancelled call ends at once, whatever the store does.
func TestACancelledCallDoesNotWaitForTheStore(t *testing.T) {
	for name, opts := range storeOperations {
		for _, method := range []string{"", "Load", "Reserve", "Claim", "Settle", "Conclude", "Save"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := newClient(t, roundTripper(hangs), append(opts, fiscope.WithStore(newTroubled(map[string]func(context.Context){method: hanging})))...)
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(700*time.Millisecond, cancel)
					start := time.Now()
					require.ErrorIs(t, operations[opOf(name)](ctx, client), context.Canceled)
					assert.Equal(t, 700*time.Millisecond, time.Since(start))
					require.NoError(t, client.Close(t.Context()))
					if method == "" { // otherwise something may be sent, which is brought home
						assert.LessOrEqual(t, time.Since(start), 3*time.Second)
					}
				})
			})
		}
	}
}

func TestWhatAStoreGrantsTooLateIsGivenBack(t *testing.T) {
	late := func(ctx context.Context) { time.Sleep(4 * time.Second) }
	t.Run("a query", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &tardy{fleetStore: newFleetStore(), late: late}
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, s, fiscope.WithStore(store))
			start := time.Now()
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.Equal(t, 3*time.Second, time.Since(start), "it is not waited for, though it heeds no context")
			require.NoError(t, client.Close(t.Context()))
			_, settled := store.told()
			assert.Equal(t, []fiscope.Outcome{{}}, settled, "nobody sent it")
		})
	})
	t.Run("a claim", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &tardy{fleetStore: newFleetStore(), late: late}
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}}
			client := newClient(t, s, fiscope.WithStore(store), fiscope.WithoutQuotaGate())
			start := time.Now()
			require.NoError(t, validar(t.Context(), client, clave))
			assert.Equal(t, 3*time.Second, time.Since(start))
			require.NoError(t, client.Close(t.Context()))
			assert.EqualValues(t, 1, store.released.Load())
		})
	})
}

// tardy is a Store that answers late, heeds no context, and grants.
type tardy struct {
	*fleetStore
	late     func(context.Context)
	released atomic.Int64
}

func (s *tardy) Reserve(ctx context.Context, account string, keep int) (fiscope.Reservation, error) {
	s.late(ctx)
	return s.fleetStore.Reserve(ctx, account, keep)
}

func (s *tardy) Claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	s.late(ctx)
	return s.fleetStore.Claim(ctx, credential, hold)
}

func (s *tardy) Conclude(ctx context.Context, _ string, c fiscope.Claim, v fiscope.Verdict, _ time.Duration) error {
	if ctx.Err() == nil && c.Token == "c" && v == fiscope.VerdictNone {
		s.released.Add(1)
	}
	return ctx.Err()
}

func TestAPanicOfWhatIsToldEndsNoProcess(t *testing.T) {
	boom := func(context.Context) { panic("boom: " + apiKey) }
	for name, opts := range storeOperations {
		for _, method := range []string{"Save", "Settle", "Conclude"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					op := opOf(name)
					s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
					var log bytes.Buffer
					store := newTroubled(map[string]func(context.Context){method: boom})
					client := newClient(t, s, append(opts, fiscope.WithStore(store), fiscope.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))...)
					require.NoError(t, operations[op](t.Context(), client))
					require.NoError(t, client.Close(t.Context()))
					if store.count(method) > 0 {
						assert.Contains(t, log.String(), "boom")
						assert.Contains(t, log.String(), "store_test.go", "its stack")
					}
					first, _, _ := strings.Cut(log.String(), `"stack"`)
					assert.NotContains(t, first, apiKey)
				})
			})
		}
	}
}

func TestAPanicOfAQuestionIsItsCallers(t *testing.T) {
	boom := func(context.Context) { panic("boom") }
	for op, method := range map[string]string{"consultar": "Reserve", "validar": "Claim"} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
			store := newTroubled(map[string]func(context.Context){method: boom})
			client := newClient(t, s, fiscope.WithStore(store))
			func() {
				defer func() {
					text := fmt.Sprint(recover())
					assert.Contains(t, text, "boom")
					assert.Contains(t, text, "TestAPanicOfAQuestionIsItsCallers.func", "the stack of who panicked")
				}()
				_ = operations[op](t.Context(), client)
			}()
			store.becomes(nil)
			require.NoError(t, operations[op](t.Context(), client))
		})
	}
}

func TestAStoreThatCannotSayWhetherAQueryIsLeft(t *testing.T) {
	for grantName, grant := range map[string]fiscope.Grant{"QuotaAway": fiscope.QuotaAway, "a grant that nobody knows": 9, "one below all": -1} {
		for _, op := range []string{"consultar", "buscar", "tipocambio", "validar"} {
			for optName, opts := range map[string][]fiscope.Option{"": nil, ", coalesced": {fiscope.WithCoalescing()}, ", cached": {fiscope.WithCache(fiscope.CachePolicy{})}} {
				t.Run(grantName+"/"+op+optName, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						store := newFleetStore()
						store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: grant} }
						s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
						var events []fiscope.Event
						client := newClient(t, s, append(opts, fiscope.WithStore(store), fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) }))...)
						start := time.Now()
						err := operations[op](t.Context(), client)
						require.ErrorIs(t, err, fiscope.ErrUnavailable)
						require.NotErrorIs(t, err, fiscope.ErrQuotaExceeded)
						assert.Zero(t, time.Since(start))
						assert.ErrorContains(t, err, "the Store cannot say whether a query is left: try again later")
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
						assert.Zero(t, e.Attempts)
						assert.Empty(t, s.seen())
						assert.EqualValues(t, 1, client.Stats().Avoided[fiscope.AvoidedQuota])
						require.Len(t, events, 1)
						assert.Equal(t, fiscope.AvoidedQuota, events[0].Avoided)

						store.mu.Lock()
						store.reserve = nil
						store.mu.Unlock()
						require.NoError(t, operations[op](t.Context(), client), "the gate of this process is open")
					})
				})
			}
		}
	}
	t.Run("for a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			store.reserve = func(int) fiscope.Reservation {
				if store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaAway} }; true {
					return fiscope.Reservation{Token: "t"}
				}
				return fiscope.Reservation{}
			}
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, `{"error":"mantenimiento"}`)}}
			client := newClient(t, s, fiscope.WithStore(store))
			err := operations["consultar"](t.Context(), client)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 503, e.StatusCode, "what came before it counts")
			assert.Equal(t, "mantenimiento", e.Message)
			assert.Equal(t, 1, e.Attempts)
			assert.Len(t, s.seen(), 1)
		})
	})
	t.Run("while one looks whether a spent quota still is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			s := newSays(t, "0", 20*time.Hour)
			client := newClient(t, s, fiscope.WithStore(store))
			require.NoError(t, operations["consultar"](t.Context(), client))
			time.Sleep(15 * time.Minute)
			store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaAway} }
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
			store.reserve = nil
			time.Sleep(time.Second)
			require.NoError(t, operations["consultar"](t.Context(), client), "another may look soon")
		})
	})
	t.Run("and an older answer serves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, s, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}))
			require.NoError(t, operations["consultar"](t.Context(), client))
			time.Sleep(12*time.Hour + time.Minute)
			store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaAway} }
			var resp fiscope.Response
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			assert.True(t, resp.Stale)
		})
	})
	t.Run("in a batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaAway} }
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, s, fiscope.WithStore(store))
			lines, stopped := 0, error(nil)
			inputs := slices.Repeat([]string{rucSUNAT}, 100)
			for _, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{MaxFailures: 5, Memory: -1}) {
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				lines, stopped = lines+1, err
			}
			var e *fiscope.LoteDetenido
			require.ErrorAs(t, stopped, &e)
			assert.Less(t, lines, 20, "as with a service that is down")
			assert.Empty(t, s.seen())
		})
	})
	t.Run("who says for ever that another finds out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFleetStore()
			store.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaWait} }
			client := newClient(t, roundTripper(raw(200, record)), fiscope.WithStore(store))
			start := time.Now()
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
			assert.LessOrEqual(t, time.Since(start), 62*time.Second)
		})
	})
}

func TestWhatAStoreSaysOfTheQuotaBreaksNothing(t *testing.T) {
	for name, r := range map[string]fiscope.Reservation{
		"a reset of yesterday":       {Until: time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)},
		"a reset in 8000 years":      {Until: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
		"a reset beyond all years":   {Until: time.Unix(math.MaxInt64>>1, 0)},
		"a reset before all":         {Until: time.Unix(math.MinInt64, 0)},
		"a count below zero":         {Left: math.MinInt},
		"more than are kept":         {Left: math.MaxInt},
		"an odd token":               {Token: "\x00\xff\n"},
		"a reset in a week":          {Until: time.Date(2000, 1, 8, 0, 0, 0, 0, time.UTC)},
		"the zero time of some zone": {Until: time.Time{}.In(fiscope.Lima)},
	} {
		for _, keep := range []int{0, 3} {
			t.Run(fmt.Sprint(name, " ", keep), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := r
					r.Grant = fiscope.QuotaSpent
					store := newFleetStore()
					store.reserve = func(int) fiscope.Reservation { return r }
					s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
					client := newClient(t, s, fiscope.WithStore(store), fiscope.WithQuotaReserve(keep))
					err := operations["consultar"](t.Context(), client)
					require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Zero(t, e.RetryAfter)
					assert.NotContains(t, err.Error(), " until ")
					assert.NotContains(t, err.Error(), "-")
					if keep > 0 {
						assert.Regexp(t, "[0-3] queries are left, and 3 are kept in reserve", err.Error())
					}
					assert.Empty(t, s.seen())
					r.Grant, r.Until = fiscope.QuotaGranted, time.Time{}
					require.NoError(t, operations["consultar"](t.Context(), client), "the gate of this process is open")
				})
			})
		}
	}
}

func TestWhatAStoreSaysOfACredentialBreaksNothing(t *testing.T) {
	const memory = 24 * time.Hour
	for name, test := range map[string]struct {
		claim   fiscope.Claim
		blocked bool
	}{
		"refused, in 8000 years":               {fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, true},
		"refused, before all years":            {fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Unix(math.MinInt64, 0)}, true},
		"refused for 8000 years":               {fiscope.Claim{State: fiscope.ClaimRefused, Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, true},
		"refused until yesterday":              {fiscope.Claim{State: fiscope.ClaimRefused, Until: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)}, true},
		"refused, the zero time of some zone":  {fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Time{}.In(fiscope.Lima), Until: time.Time{}.In(fiscope.Lima)}, true},
		"accepted in 8000 years":               {fiscope.Claim{State: fiscope.ClaimProven, Since: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, false},
		"accepted, the zero time of some zone": {fiscope.Claim{State: fiscope.ClaimProven, Since: time.Time{}.In(fiscope.Lima)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				store.claims = []fiscope.Claim{test.claim, {State: fiscope.ClaimGranted}}
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, ""), slowly(raw(200, verdict))}}
				if test.blocked {
					s.answers = s.answers[1:]
				}
				client := newClient(t, s, fiscope.WithStore(store))
				err := validar(t.Context(), client, clave)
				assert.NotContains(t, err.Error(), "9999")
				if test.blocked {
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
					assert.LessOrEqual(t, e.RetryAfter, memory)
					time.Sleep(memory)
					require.NoError(t, validar(t.Context(), client, clave), "no longer than this client remembers")
					return
				}
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				time.Sleep(16 * time.Minute)
				start := time.Now()
				together(3, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
				assert.Equal(t, 2*time.Second, time.Since(start), "it is recent no longer than if it were accepted now: one goes first")
			})
		})
	}
}

func TestATimeoutWithoutEndHoldsNoClaimForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}}
		client := store.process(t, s, fiscope.WithTimeout(math.MaxInt64, math.MaxInt64))
		require.NoError(t, validar(t.Context(), client, clave))
		assert.Positive(t, store.holds)
		assert.LessOrEqual(t, store.holds, 25*time.Hour)
		client.CPE.Olvidar(credenciales)
		assert.Positive(t, store.holds)
	})
}

// storedRecord is the record as a process stores it, with other members.
func storedRecord(t *testing.T, body string, changes map[string]any) []byte {
	t.Helper()
	a := form.Answer{Status: 200, Asked: time.Now(), Stored: time.Now(), Expires: time.Now().Add(time.Hour), Body: []byte(body)}
	for member, value := range changes {
		switch member {
		case "status":
			a.Status = value.(int)
		case "asked":
			a.Asked = value.(time.Time)
		case "stored":
			a.Stored = value.(time.Time)
		case "expires":
			a.Expires = value.(time.Time)
		}
	}
	return form.Pack(a)
}

func TestWhatAStoreKeepsIsNotTrusted(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-d) }
	const never, far = time.Duration(-1), 300 * 24 * time.Hour
	missing := contract(t, "consultar_404.json")
	for name, test := range map[string]struct {
		policy  fiscope.CachePolicy
		body    string
		changes map[string]any
		serves  time.Duration // from now on; 0 for not at all
	}{
		"the reader's lifetime is shorter":        {fiscope.CachePolicy{Consulta: time.Minute}, record, map[string]any{"expires": ago(-far)}, time.Minute},
		"... and counts from when it was stored":  {fiscope.CachePolicy{Consulta: time.Hour}, record, map[string]any{"stored": ago(40 * time.Minute), "expires": ago(-far)}, 20 * time.Minute},
		"the writer's lifetime is shorter":        {fiscope.CachePolicy{Consulta: time.Hour}, record, map[string]any{"expires": ago(-time.Minute)}, time.Minute},
		"for the writer it serves for ever":       {fiscope.CachePolicy{Consulta: time.Minute}, record, map[string]any{"expires": time.Time{}}, time.Minute},
		"for both it serves for ever":             {fiscope.CachePolicy{Consulta: math.MaxInt64}, record, map[string]any{"expires": time.Time{}}, far},
		"for the reader it serves for ever":       {fiscope.CachePolicy{Consulta: math.MaxInt64}, record, nil, time.Hour},
		"for the reader it never serves":          {fiscope.CachePolicy{Consulta: never}, record, nil, 0},
		"... nor where it may be stale":           {fiscope.CachePolicy{Consulta: never, StaleIfError: far}, record, nil, 0},
		"a NOT_FOUND for the reader never serves": {fiscope.CachePolicy{NoExiste: never}, missing, map[string]any{"status": 404}, 0},
		"a NOT_FOUND serves as the reader says":   {fiscope.CachePolicy{NoExiste: time.Minute}, missing, map[string]any{"status": 404, "expires": ago(-far)}, time.Minute},
		"it was stored a little ahead":            {fiscope.CachePolicy{Consulta: time.Minute}, record, map[string]any{"stored": ago(-30 * time.Second), "asked": ago(-30 * time.Second), "expires": ago(-far)}, 90 * time.Second},
		"it was stored in the future":             {fiscope.CachePolicy{}, record, map[string]any{"stored": ago(-time.Hour), "expires": ago(-far)}, 0},
		"it expired before it was stored":         {fiscope.CachePolicy{StaleIfError: far}, record, map[string]any{"expires": ago(time.Minute)}, 0},
		"it expired when it was stored":           {fiscope.CachePolicy{StaleIfError: far}, record, map[string]any{"expires": ago(0)}, 0},
		"it expired":                              {fiscope.CachePolicy{}, record, map[string]any{"stored": ago(2 * time.Hour), "expires": ago(time.Hour)}, 0},
		"it was stored 300 years ago":             {fiscope.CachePolicy{}, record, map[string]any{"stored": time.Date(1700, 1, 2, 0, 0, 0, 0, time.UTC), "expires": ago(-far)}, 0},
		"... and the reader keeps for ever":       {fiscope.CachePolicy{Consulta: math.MaxInt64}, record, map[string]any{"stored": time.Date(1700, 1, 2, 0, 0, 0, 0, time.UTC), "expires": ago(far)}, 0},
		"it was asked for in 250 years":           {fiscope.CachePolicy{Consulta: time.Minute}, record, map[string]any{"asked": time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC)}, time.Minute},
		"its body is larger than an answer's":     {fiscope.CachePolicy{}, record + strings.Repeat(" ", 5000), nil, 0},
		"its status is another":                   {fiscope.CachePolicy{}, record, map[string]any{"status": 500}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := stored{value: storedRecord(t, test.body, test.changes)}
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "")}}
				policy := fiscope.WithCache(test.policy)
				client := newClient(t, s, policy, fiscope.WithStore(store), fiscope.WithRetry(noRetries()), fiscope.WithMaxResponseBytes(4096))
				ask := func() bool {
					var resp fiscope.Response
					err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
					assert.GreaterOrEqual(t, resp.Age, time.Duration(0))
					served := resp.FromCache && !resp.Stale
					assert.Equal(t, served, !errors.Is(err, fiscope.ErrUnavailable))
					return served
				}
				if test.serves == 0 {
					assert.False(t, ask())
					return
				}
				assert.True(t, ask())
				time.Sleep(test.serves - time.Second)
				assert.True(t, ask())
				time.Sleep(time.Second)
				if test.serves < far {
					assert.False(t, ask(), "nor when the store is asked again")
				}
			})
		})
	}
	t.Run("a later answer replaces one that was asked for in the future", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := stored{value: storedRecord(t, record, map[string]any{"asked": ago(-far)})}
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, change(record, "ACTIVO", "BAJA DE OFICIO"))}}
			client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
			require.NoError(t, operations["consultar"](t.Context(), client))
			require.Empty(t, s.seen())
			time.Sleep(time.Second)
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()))
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.NoError(t, err)
			assert.True(t, c.Estado.Baja())
			require.NoError(t, client.Close(t.Context()))
		})
	})
	t.Run("what contradicts the question serves no lenient reader", func(t *testing.T) {
		store := stored{value: storedRecord(t, change(record, rucSUNAT, rucEmisor), map[string]any{"stored": time.Now(), "expires": time.Now().Add(time.Hour)})}
		client := newClient(t, roundTripper(raw(503, "")), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store), fiscope.WithRetry(noRetries()), fiscope.WithLenientReading())
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
		require.NoError(t, client.Close(t.Context()))
	})
	t.Run("a rate of today that the writer lets serve for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(viernes.En(fiscope.Lima).Add(18 * time.Hour)))
			store := stored{value: storedRecord(t, price, map[string]any{"expires": time.Time{}})}
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "")}}
			client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store), fiscope.WithRetry(noRetries()))
			require.NoError(t, operations["tipocambio"](t.Context(), client))
			time.Sleep(7 * time.Hour)
			require.ErrorIs(t, operations["tipocambio"](t.Context(), client), fiscope.ErrUnavailable)
		})
	})
}

func TestTheTextsOfAStoredEntryShowNoSecret(t *testing.T) {
	escaped := strings.ReplaceAll(apiKey, "-", `\u002d`)
	for name, key := range map[string]string{"as it is": apiKey, "escaped": escaped} {
		t.Run(name, func(t *testing.T) {
			body := `{"error":"no hay con ` + key + `","code":"NOT_FOUND"}`
			store := stored{value: storedRecord(t, body, map[string]any{"status": 404})}
			client := newClient(t, roundTripper(raw(503, "")), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
			err := operations["consultar"](t.Context(), client)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, fiscope.ErrNotFound)
			for _, text := range []string{err.Error(), e.Message, string(e.Body()), fmt.Sprintf("%+v %#v", e, e)} {
				assert.False(t, leaks(text, apiKey), text)
			}
			odd := change(record, `"HABIDO"`, `"`+key+`"`)
			store.value = storedRecord(t, odd, nil)
			client = newClient(t, roundTripper(raw(503, "")), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
			var resp fiscope.Response
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			require.NotEmpty(t, resp.Warnings)
			for _, text := range resp.Warnings {
				assert.False(t, leaks(text, apiKey), text)
			}
		})
	}
}

func TestAnAnswerThatEchoesTheKeyIsNotSaved(t *testing.T) {
	for name, key := range map[string]string{
		"as it is":      apiKey,
		"in capitals":   strings.ToUpper(apiKey),
		"escaped":       strings.ReplaceAll(apiKey, "-", `\u002d`),
		"escaped twice": strings.ReplaceAll(apiKey, "-", `\\u002d`),
		"as in HTML":    strings.ReplaceAll(apiKey, "-", "&#45;"),
		"as in a URL":   strings.ReplaceAll(apiKey, "-", "%2D"),
		"not at all":    "",
	} {
		bodies := map[int]string{
			200: change(record, `"ruc"`, `"eco": "`+key+`", "ruc"`),
			404: `{"error":"no hay, ` + key + `","code":"NOT_FOUND"}`,
		}
		for status, body := range bodies {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				store := newFleetStore()
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(status, body)}}
				client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
				for range 2 {
					_ = operations["consultar"](t.Context(), client)
				}
				assert.Len(t, s.seen(), 1, "here it is kept")
				require.NoError(t, client.Close(t.Context()))
				assert.Equal(t, key == "", len(store.saved) == 1)
			})
		}
	}
}

// A Store whose Reserve takes its time is waited for by who has time, also where others may join the query.
func TestWhoHasTimeWaitsForTheStore(t *testing.T) {
	for name, opts := range storeOperations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(2500 * time.Millisecond) }})
				client := newClient(t, roundTripper(raw(200, contract(t, fileOf[opOf(name)]))), append(opts, fiscope.WithStore(store))...)
				require.NoError(t, operations[opOf(name)](t.Context(), client))
				require.NoError(t, client.Close(t.Context()))
				_, settled := store.told()
				if name != "validar, never gated" {
					assert.Equal(t, []fiscope.Outcome{{Written: 1, StatusCode: 200}}, settled)
				}
			})
		})
	}
}

func TestAStoreThatFailsLateIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(2900 * time.Millisecond) }})
		store.fails = errors.New("away")
		client := newClient(t, roundTripper(raw(200, record)), fiscope.WithStore(store))
		start := time.Now()
		for range 10 {
			require.NoError(t, operations["consultar"](t.Context(), client))
		}
		assert.Equal(t, 2900*time.Millisecond, time.Since(start))
	})
}

// A later verdict never arrives before an earlier one, whatever the store does with them.
func TestTheVerdictsOfACredentialArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		store := newTroubled(nil)
		store.trouble = map[string]func(context.Context){"Conclude": func(context.Context) {
			if first {
				first = false
				time.Sleep(700 * time.Millisecond)
			}
		}}
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict), raw(401, contract(t, "validar_401.json"))}}
		client := newClient(t, s, fiscope.WithStore(store))
		require.NoError(t, validar(t.Context(), client, clave))
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
		require.NoError(t, client.Close(t.Context()))
		verdicts, _ := store.told()
		assert.Equal(t, []fiscope.Verdict{fiscope.VerdictProven, fiscope.VerdictRefused}, verdicts)
	})
}
