package fiscope_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
	form "github.com/fiscope/fiscope/internal/stored"
)

// calendar is a clock that stands still, unless a test moves it.
type calendar struct {
	mu sync.Mutex
	at time.Time
}

// The bubbles of synctest begin in 2000: nothing here is near it.
func newCalendar(hour string) *calendar {
	at, err := time.ParseInLocation(time.DateTime, hour, fiscope.Lima)
	if err != nil {
		panic(err)
	}
	return &calendar{at: at}
}

func (c *calendar) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *calendar) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// left returns headers of the calendar's day, which ends at midnight in Lima.
func (c *calendar) left(n string) []string {
	midnight := fiscope.FechaEnLima(c.now()).AddDays(1).En(fiscope.Lima)
	return []string{"X-RateLimit-Remaining: " + n, "X-RateLimit-Reset: " + midnight.UTC().Format(time.RFC3339)}
}

func TestWithClockRefusesNone(t *testing.T) {
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithClock(nil))
	require.ErrorContains(t, err, "WithClock")
}

func TestADayOfTheQuotaEndsByTheClock(t *testing.T) {
	for name, test := range map[string]struct {
		moved time.Duration
		sent  int // of two more calls
	}{
		"not at all":                    {0, 0},
		"to the last second of the day": {12*time.Hour - time.Second, 0},
		"to the next":                   {12 * time.Hour, 2},
		"a day forth":                   {24 * time.Hour, 2},
		"a year forth":                  {365 * 24 * time.Hour, 2},
		"half an hour back":             {-30 * time.Minute, 0},
		"a day back":                    {-24 * time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newCalendar("2024-02-29 12:00:00")
				spent := clock.left("0")
				client, s := clocked(t, clock, nil, raw(200, contract(t, "consultar_200.json"), spent...), raw(200, contract(t, "consultar_200.json")))
				require.NoError(t, operations["consultar"](t.Context(), client))
				require.NotNil(t, client.RateLimit())
				assert.Equal(t, "2024-03-01T05:00:00Z", client.RateLimit().Reset.Format(time.RFC3339), "the service's midnight is the clock's")

				err := operations["consultar"](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, 12*time.Hour, e.RetryAfter)
				assert.Contains(t, e.Message, "until 2024-03-01T05:00:00Z")
				require.Len(t, s.seen(), 1)

				clock.move(test.moved)
				for range 2 {
					_ = operations["consultar"](t.Context(), client)
				}
				assert.Len(t, s.seen(), 1+test.sent)
			})
		})
	}
}

// A test goes through many days, each of whose quota is spent, and waits for nothing.
func TestManyDaysPassAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2024-02-29 12:00:00")
		client, s := clocked(t, clock, nil, func(r *http.Request) (*http.Response, error) {
			return raw(200, contract(t, "consultar_200.json"), clock.left("0")...)(r)
		})
		start := time.Now()
		for day := range 30 {
			require.NoError(t, operations["consultar"](t.Context(), client))
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
			require.Len(t, s.seen(), day+1)
			clock.move(24 * time.Hour)
		}
		assert.Zero(t, time.Since(start))
	})
}

// clocked returns a client that goes by clock, and raw answers.
func clocked(t *testing.T, clock *calendar, opts []fiscope.Option, answers ...func(*http.Request) (*http.Response, error)) (*fiscope.Client, *service) {
	s := &service{answers: answers}
	return newClient(t, s, append([]fiscope.Option{fiscope.WithClock(clock.now)}, opts...)...), s
}

// The looks whether a spent quota still is, and the waits of those at the gate, are in real time.
func TestAClockThatStandsStillStopsNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2024-02-29 12:00:00")
		spent := raw(429, `{"error":"no"}`, clock.left("0")...)
		client, s := clocked(t, clock, nil, spent, spent, raw(429, `{"error":"no"}`), spent, raw(200, contract(t, "consultar_200.json")))
		asks := func() error { return operations["consultar"](t.Context(), client) }
		require.ErrorIs(t, asks(), fiscope.ErrQuotaExceeded)
		time.Sleep(15*time.Minute - time.Second)
		require.ErrorIs(t, asks(), fiscope.ErrQuotaExceeded)
		require.Len(t, s.seen(), 1)
		time.Sleep(time.Second)
		require.ErrorIs(t, asks(), fiscope.ErrQuotaExceeded)
		require.Len(t, s.seen(), 2, "after 15 minutes one looks")

		clock.move(12 * time.Hour) // the quota should be new by now, and is not
		require.ErrorIs(t, asks(), fiscope.ErrQuotaExceeded)
		for _, wait := range []time.Duration{time.Second, 2 * time.Second} {
			seen := len(s.seen())
			err := asks()
			require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.LessOrEqual(t, e.RetryAfter, wait)
			assert.Positive(t, e.RetryAfter, "a wait in real time, whatever the clock says")
			assert.Len(t, s.seen(), seen)
			time.Sleep(e.RetryAfter)
			err = asks()
			assert.Len(t, s.seen(), seen+1)
			if err == nil {
				return
			}
		}
		t.Error("the quota was never found to be new")
	})
}

func TestWhoWaitsAtTheGateWaitsInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2024-02-29 12:00:00")
		client, s := clocked(t, clock, nil,
			raw(200, contract(t, "consultar_200.json"), clock.left("0")...), slowly(raw(200, contract(t, "consultar_200.json"))))
		require.NoError(t, operations["consultar"](t.Context(), client))
		clock.move(24 * time.Hour)
		together(20, func(int) { assert.NoError(t, operations["consultar"](t.Context(), client)) })
		assert.Len(t, s.seen(), 21)
	})
}

func TestAnswersOfTheCacheAgeByTheClock(t *testing.T) {
	const lookup, search, today = "consultar", "buscar", "hoy"
	policy := fiscope.CachePolicy{Consulta: 12 * time.Hour, Busqueda: time.Hour, NoExiste: 30 * time.Minute}
	for name, test := range map[string]struct {
		op, file string
		moved    time.Duration
		fresh    bool
	}{
		"a lookup, not moved":     {lookup, "consultar_200.json", 0, false},
		"a lookup, young":         {lookup, "consultar_200.json", 12*time.Hour - 1, false},
		"a lookup, old":           {lookup, "consultar_200.json", 12 * time.Hour, true},
		"a lookup, a little back": {lookup, "consultar_200.json", -time.Minute, false},
		"a lookup, a day back":    {lookup, "consultar_200.json", -24 * time.Hour, true},
		"a search, young":         {search, "buscar_200.json", time.Hour - 1, false},
		"a search, old":           {search, "buscar_200.json", time.Hour, true},
		"none, young":             {lookup, "consultar_404.json", 30*time.Minute - 1, false},
		"none, old":               {lookup, "consultar_404.json", 30 * time.Minute, true},
		"today's rate":            {today, "tipocambio_200.json", 6*time.Hour - 1, false},
		"today's rate tomorrow":   {today, "tipocambio_200.json", 6 * time.Hour, true},
		"a date's rate tomorrow":  {"tipocambio", "tipocambio_200.json", 6 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newCalendar("2026-11-20 18:00:00")
				status := 200
				if strings.Contains(test.file, "404") {
					status = 404
				}
				client, s := clocked(t, clock, []fiscope.Option{fiscope.WithCache(policy)}, raw(status, contract(t, test.file)))
				_ = operations[test.op](t.Context(), client)
				time.Sleep(30 * 24 * time.Hour) // real time passes for nothing
				clock.move(test.moved)
				var resp fiscope.Response
				_ = operations[test.op](t.Context(), client, fiscope.WithResponse(&resp))
				assert.Equal(t, !test.fresh, resp.FromCache)
				assert.Len(t, s.seen(), map[bool]int{false: 1, true: 2}[test.fresh])
				if resp.FromCache {
					assert.Equal(t, max(0, test.moved), resp.Age)
				}
			})
		})
	}
}

func TestWhatIsKeptForGoodHasNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2026-12-20 18:00:00")
		client, s := clocked(t, clock, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, raw(200, contract(t, "tipocambio_200.json")))
		for _, moved := range []time.Duration{0, -24 * time.Hour, 1000 * 24 * time.Hour} {
			clock.move(moved)
			require.NoError(t, operations["tipocambio"](t.Context(), client))
		}
		assert.Len(t, s.seen(), 1, "the rate of a month ago, also where the clock was set back")

		store := &clockStore{}
		client, _ = clocked(t, clock, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store)}, raw(200, contract(t, "tipocambio_200.json")))
		require.NoError(t, operations["tipocambio"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.saved, 1)
		for _, value := range store.saved {
			times, ok := form.Unpack(value, 1<<20)
			require.True(t, ok)
			assert.Zero(t, times.Expires, "nor in the fleet")
		}
	})
}

func TestAStaleAnswerServesByTheClockAndTheServiceIsTriedAgainInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2024-02-29 12:00:00")
		client, s := clocked(t, clock, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Hour, StaleIfError: time.Hour})},
			raw(200, contract(t, "consultar_200.json")), raw(501, ""))
		stale := func() bool {
			var resp fiscope.Response
			_ = operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
			return resp.Stale
		}
		assert.False(t, stale())
		clock.move(time.Hour)
		assert.True(t, stale())
		assert.True(t, stale())
		assert.Len(t, s.seen(), 2, "it serves for a while before the service is tried again")
		time.Sleep(30 * time.Second)
		assert.True(t, stale())
		assert.Len(t, s.seen(), 3, "also while the clock stands still")
		clock.move(time.Hour)
		assert.False(t, stale(), "its time is over")
		assert.Len(t, s.seen(), 4)
	})
}

func TestTheHourOfPublicationIsTheClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2026-11-20 16:00:00")
		client, s := clocked(t, clock, nil, raw(200, contract(t, "tipocambio_200.json")))
		_, err := client.TipoCambio.UltimoPublicado(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, time.Hour, e.RetryAfter)
		assert.Empty(t, s.seen())
		time.Sleep(24 * time.Hour)
		_, err = client.TipoCambio.SUNAT(t.Context(), viernes.AddDays(1))
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished, "real time publishes nothing")
		clock.move(time.Hour)
		tc, err := client.TipoCambio.SUNAT(t.Context(), viernes.AddDays(1))
		require.NoError(t, err)
		assert.Equal(t, viernes, tc.TipoCambio.Fecha)

		var resp fiscope.Response
		_, err = client.TipoCambio.Hoy(t.Context(), fiscope.WithResponse(&resp))
		require.NoError(t, err)
		assert.Empty(t, resp.Warnings, "today is the clock's")
		clock.move(24 * time.Hour)
		_, err = client.TipoCambio.Hoy(t.Context(), fiscope.WithResponse(&resp))
		require.NoError(t, err)
		assert.Len(t, resp.Warnings, 1)
	})
}

// A rate that is missing is "not yet" of a recent day and "never" of an old one, by the clock.
func TestWhetherADayIsRecentIsTheClocks(t *testing.T) {
	clock := newCalendar("2026-11-20 18:00:00")
	client, _ := clocked(t, clock, nil, raw(404, contract(t, "tipocambio_404.json")))
	_, err := client.TipoCambio.UltimoPublicado(t.Context(), viernes)
	require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
	clock.move(365 * 24 * time.Hour)
	_, err = client.TipoCambio.UltimoPublicado(t.Context(), viernes)
	require.ErrorIs(t, err, fiscope.ErrNotFound)
	require.NotErrorIs(t, err, fiscope.ErrNotYetPublished)
}

func TestTheSOLMemoryIsTheClocks(t *testing.T) {
	for name, test := range map[string]struct {
		moved time.Duration
		sent  bool
	}{
		"before its end": {24*time.Hour - 1, false},
		"at its end":     {24 * time.Hour, true},
		"a day back":     {-24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newCalendar("2024-02-29 12:00:00")
				client, s := clocked(t, clock, nil, raw(401, contract(t, "validar_401.json")))
				require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrInvalidSOLCredentials)
				time.Sleep(48 * time.Hour)
				clock.move(test.moved)
				err := operations["validar"](t.Context(), client)
				assert.Len(t, s.seen(), map[bool]int{false: 1, true: 2}[test.sent])
				if !test.sent {
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
					assert.Equal(t, 24*time.Hour-test.moved, e.RetryAfter)
					assert.Contains(t, e.Message, "2024-02-29T17:00:00Z")
				}
			})
		})
	}
}

// What is proven is sent side by side for some minutes of the clock.
func TestAProvenCredentialAgesByTheClock(t *testing.T) {
	for name, test := range map[string]struct {
		moved    time.Duration
		together bool
	}{
		"not moved":  {0, true},
		"minutes":    {15*time.Minute - 1, true},
		"an hour":    {time.Hour, false},
		"a day back": {-24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newCalendar("2024-02-29 12:00:00")
				client, _ := clocked(t, clock, nil, slowly(raw(200, contract(t, "validar_200_aceptado.json"))))
				require.NoError(t, operations["validar"](t.Context(), client))
				clock.move(test.moved)
				time.Sleep(time.Hour)
				start := time.Now()
				require.NoError(t, operations["validar"](t.Context(), client))
				one := time.Since(start)
				clock.move(test.moved)
				start = time.Now()
				together(3, func(int) { assert.NoError(t, operations["validar"](t.Context(), client)) })
				if test.together && test.moved == 0 {
					assert.Equal(t, one, time.Since(start))
				}
				if !test.together {
					assert.Equal(t, 2*one, time.Since(start), "one went first")
				}
			})
		})
	}
}

// A date without the Date of its answer is one of the clock.
func TestARetryAfterDateIsOfTheClock(t *testing.T) {
	clock := newCalendar("2024-02-29 12:00:00")
	client, s := clocked(t, clock, nil, raw(429, `{"error":"no"}`, "Retry-After: Thu, 29 Feb 2024 17:00:40 GMT"))
	for range 2 { // a request for fewer calls, not the end of the day
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 40*time.Second, e.RetryAfter)
	}
	assert.Len(t, s.seen(), 2)
}

// Whatever takes its time takes it while the clock stands still.
func TestAClockThatStandsStillStopsNothing(t *testing.T) {
	took := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	clock := newCalendar("2024-02-29 12:00:00")
	for name, test := range map[string]func(*testing.T){
		"retries and Retry-After": func(t *testing.T) {
			client, s := clocked(t, clock, nil, raw(503, "", "Retry-After: 3"), raw(503, "", "Retry-After: Thu, 29 Feb 2024 17:00:05 GMT"), raw(200, contract(t, "consultar_200.json")))
			var resp fiscope.Response
			waited := took(func() {
				require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			})
			assert.GreaterOrEqual(t, waited, 8*time.Second, "a date without a Date is one of the clock")
			assert.Less(t, waited, 10*time.Second)
			assert.Equal(t, waited, resp.Duration)
			assert.Len(t, s.seen(), 3)
		},
		"the limiter": func(t *testing.T) {
			client, _ := clocked(t, clock, []fiscope.Option{fiscope.WithRateLimit(rate.Every(time.Second), 1)}, raw(200, contract(t, "consultar_200.json")))
			assert.Equal(t, 4*time.Second, took(func() {
				for range 5 {
					require.NoError(t, operations["consultar"](t.Context(), client))
				}
			}))
		},
		"timeouts": func(t *testing.T) {
			client, _ := clocked(t, clock, []fiscope.Option{fiscope.WithTimeout(2*time.Second, 3*time.Second), fiscope.WithRetry(noRetries())}, func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			assert.Equal(t, 2*time.Second, took(func() {
				require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
			}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.Equal(t, time.Second, took(func() { require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded) }))
		},
		"Esperar": func(t *testing.T) {
			client, s := clocked(t, clock, nil, raw(200, contract(t, "validar_200_en_proceso.json")))
			waited := took(func() {
				espera, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Base: 10 * time.Second, Cap: 10 * time.Second, Timeout: time.Minute, MaxAttempts: 1000})
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaSinTiempo, espera.Fin)
			})
			assert.Greater(t, waited, 45*time.Second)
			assert.LessOrEqual(t, waited, time.Minute)
			assert.Greater(t, len(s.seen()), 5)
		},
		"who waits for a credential": func(t *testing.T) {
			client, s := clocked(t, clock, []fiscope.Option{fiscope.WithTimeout(time.Second, 5*time.Second)}, func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			waited := took(func() {
				together(2, func(int) { assert.Error(t, operations["validar"](t.Context(), client)) })
			})
			assert.GreaterOrEqual(t, waited, 5*time.Second)
			assert.LessOrEqual(t, waited, 10*time.Second, "the second, if its turn comes in the same moment as the end of its patience")
			assert.LessOrEqual(t, len(s.seen()), 2)
		},
		"an event": func(t *testing.T) {
			var events []fiscope.Event
			client, _ := clocked(t, clock, []fiscope.Option{fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) })}, slowly(raw(200, contract(t, "consultar_200.json"))))
			waited := took(func() { require.NoError(t, operations["consultar"](t.Context(), client)) })
			require.Len(t, events, 1)
			assert.Equal(t, waited, events[0].Duration)
			assert.Positive(t, waited)
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// clockStore records what a Store is told, and says what a test makes it say, all in real time.
type clockStore struct {
	fiscope.Store
	mu       sync.Mutex
	saved    map[string][]byte
	outcomes []fiscope.Outcome
	grant    fiscope.Reservation
	claim    fiscope.Claim
	memories []time.Duration
}

func (s *clockStore) Load(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[key], nil
}

func (s *clockStore) Save(_ context.Context, key string, value []byte, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		s.saved = map[string][]byte{}
	}
	s.saved[key] = value
	return nil
}

func (s *clockStore) Reserve(context.Context, string, int) (fiscope.Reservation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grant, nil
}

func (s *clockStore) Settle(_ context.Context, _ string, _ fiscope.Reservation, o fiscope.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, o)
	return nil
}

func (s *clockStore) Claim(context.Context, string, time.Duration) (fiscope.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claim, nil
}

func (s *clockStore) Conclude(_ context.Context, _ string, _ fiscope.Claim, _ fiscope.Verdict, memory time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memories = append(s.memories, memory)
	return nil
}

func TestTheTimesOfAStoreAreReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &clockStore{}
		clock, other := newCalendar("2024-02-29 12:00:00"), newCalendar("2031-05-05 05:00:00")
		opts := []fiscope.Option{fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{Consulta: 12 * time.Hour})}
		answer := raw(200, contract(t, "consultar_200.json"), clock.left("7")...)
		client, _ := clocked(t, clock, opts, answer)
		start := time.Now()
		require.NoError(t, operations["consultar"](t.Context(), client))

		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.saved, 1)
		for _, value := range store.saved {
			times, ok := form.Unpack(value, 1<<20)
			require.True(t, ok)
			assert.WithinDuration(t, start, times.Stored, time.Second)
			assert.WithinDuration(t, start, times.Asked, time.Second)
			assert.WithinDuration(t, start.Add(12*time.Hour), times.Expires, time.Second)
		}
		require.Len(t, store.outcomes, 1)
		require.NotNil(t, store.outcomes[0].RateLimit)
		assert.Equal(t, 7, store.outcomes[0].RateLimit.Remaining)
		assert.WithinDuration(t, start.Add(12*time.Hour), store.outcomes[0].RateLimit.Reset, time.Second, "as far ahead as the clock's midnight")

		// Another process, whose clock says something else, takes it for as old as it is.
		time.Sleep(5 * time.Hour)
		reader, s := clocked(t, other, opts, answer)
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), reader, fiscope.WithResponse(&resp)))
		assert.True(t, resp.FromCache)
		assert.Equal(t, 5*time.Hour, resp.Age)
		other.move(7*time.Hour - 1)
		require.NoError(t, operations["consultar"](t.Context(), reader, fiscope.WithResponse(&resp)))
		assert.True(t, resp.FromCache)
		assert.Empty(t, s.seen())
	})
}

func TestWhatAStoreSaysOfTheQuotaAndACredentialIsReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar("2024-02-29 12:00:00")
		store := &clockStore{grant: fiscope.Reservation{Grant: fiscope.QuotaSpent, Until: time.Now().Add(3 * time.Hour)}}
		client, _ := clocked(t, clock, []fiscope.Option{fiscope.WithStore(store)}, raw(401, contract(t, "validar_401.json")))
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 3*time.Hour, e.RetryAfter)
		assert.Contains(t, e.Message, "2024-02-29T20:00:00Z", "in the words of the clock")

		store.grant = fiscope.Reservation{}
		store.claim = fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Now().Add(-time.Hour), Until: time.Now().Add(2 * time.Hour)}
		client, s := clocked(t, clock, []fiscope.Option{fiscope.WithStore(store)}, raw(401, contract(t, "validar_401.json")))
		err = operations["validar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 2*time.Hour, e.RetryAfter)
		assert.Contains(t, e.Message, "2024-02-29T16:00:00Z")
		assert.Empty(t, s.seen())

		store.claim = fiscope.Claim{}
		clock.move(2 * time.Hour)
		require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrInvalidSOLCredentials)
		assert.Len(t, s.seen(), 1, "what the fleet said is over by the clock, and the fleet knows nothing")
		assert.Contains(t, store.memories, 24*time.Hour)
	})
}

// Clocks of every making: with a monotonic reading and without, running and set.
func TestAClockMayBeAnyFunction(t *testing.T) {
	for name, now := range map[string]func() time.Time{
		"the machine's":           time.Now,
		"ahead":                   func() time.Time { return time.Now().Add(1000 * time.Hour) },
		"behind, without reading": func() time.Time { return time.Now().AddDate(-3, 0, 0) },
		"in another zone":         func() time.Time { return time.Now().Add(-time.Hour).In(time.FixedZone("x", 3600)) },
		"now with, now without": func() func() time.Time {
			var mu sync.Mutex
			with := false
			return func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				if with = !with; with {
					return time.Now()
				}
				return time.Now().Round(0)
			}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reset := now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
				spent := raw(200, contract(t, "consultar_200.json"), "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+reset)
				s := &service{answers: []func(*http.Request) (*http.Response, error){spent, raw(200, contract(t, "consultar_200.json"))}}
				client := newClient(t, s, fiscope.WithClock(now), fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Hour}))
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(time.Hour - time.Second)
				require.NoError(t, operations["consultar"](t.Context(), client), "from the cache")
				assert.Len(t, s.seen(), 1)
				time.Sleep(time.Hour + 2*time.Second)
				require.NoError(t, operations["consultar"](t.Context(), client), "a new day")
				assert.Len(t, s.seen(), 2)
			})
		})
	}
}

// The zero time and the ends of time break nothing.
func TestAClockOfNonsenseBreaksNothing(t *testing.T) {
	for name, at := range map[string]time.Time{"zero": {}, "the last": time.Unix(1<<62, 0), "the first": time.Unix(-1<<62, 0), "1970": time.Unix(0, 0)} {
		t.Run(name, func(t *testing.T) {
			for op, call := range operations {
				client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){raw(503, "", "Retry-After: Thu, 29 Feb 2024 17:00:05 GMT", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2024-03-01T05:00:00Z")}},
					fiscope.WithClock(func() time.Time { return at }), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 1 << 62}), fiscope.WithRetry(noRetries()))
				for range 3 {
					assert.Error(t, call(t.Context(), client), op)
				}
			}
		})
	}
}

func TestAClockThatMovesWhileItIsRead(t *testing.T) {
	clock := newCalendar("2026-11-20 16:00:00")
	answer := func(r *http.Request) (*http.Response, error) {
		return raw(200, contract(t, map[string]string{
			"/api/tipocambio": "tipocambio_200.json", "/api/cpe/validar": "validar_200_aceptado.json", "/api/contribuyentes/search": "buscar_200.json",
		}[r.URL.Path]+map[bool]string{true: "consultar_200.json"}[r.URL.Path == "/api/contribuyentes/"+rucSUNAT]), clock.left("5000")...)(r)
	}
	client, _ := clocked(t, clock, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, answer)
	together(8, func(i int) {
		for n := range 20 {
			clock.move(time.Duration(n*i-50) * time.Hour / 10)
			for op, call := range operations {
				assert.NoError(t, call(t.Context(), client), op)
			}
			_, _ = client.TipoCambio.SUNAT(t.Context(), viernes)
		}
	})
}

// At whichever of its readings: what a call took of the quota, it gives back.
func TestAClockThatPanicsLeavesNothingTaken(t *testing.T) {
	for reading := range 12 {
		t.Run(fmt.Sprint(reading), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var readings atomic.Int64
				reset := time.Now().Add(12 * time.Hour).UTC().Format(time.RFC3339)
				s := &service{answers: []func(*http.Request) (*http.Response, error){
					raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: "+reset),
					raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: "+reset),
				}}
				client := newClient(t, s, fiscope.WithClock(func() time.Time {
					if readings.Add(1) == int64(reading)+20 {
						panic("a clock of a test")
					}
					return time.Now()
				}))
				require.NoError(t, operations["consultar"](t.Context(), client))
				readings.Store(19)
				func() {
					defer func() { _ = recover() }()
					_ = operations["consultar"](t.Context(), client)
				}()
				readings.Store(100)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := operations["consultar"](ctx, client)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}
