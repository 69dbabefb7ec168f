package fiscope_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// says is a service that answers every request as status says, with the headers of a quota.
type says struct {
	t        testing.TB
	mu       sync.Mutex
	status   int
	left     string // X-RateLimit-Remaining; "" for no headers
	reset    time.Time
	extra    string        // another header
	delay    time.Duration // of an answer
	requests []time.Duration
	start    time.Time
}

func newSays(t testing.TB, left string, reset time.Duration) *says {
	return &says{t: t, status: 200, left: left, reset: time.Now().Add(reset), start: time.Now()}
}

// now changes what it answers from now on.
func (s *says) now(status int, left string, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.left, s.reset = status, left, time.Now().Add(reset)
}

func (s *says) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, time.Since(s.start))
	status, left, reset, extra, delay := s.status, s.left, s.reset, s.extra, s.delay
	s.mu.Unlock()
	time.Sleep(delay)
	var headers []string
	if left != "" {
		headers = append(headers, "X-RateLimit-Remaining: "+left, "X-RateLimit-Reset: "+reset.UTC().Format(time.RFC3339Nano))
	}
	if extra != "" {
		headers = append(headers, extra)
	}
	body := map[string]string{
		"/api/tipocambio":                 "tipocambio_200.json",
		"/api/cpe/validar":                "validar_200_aceptado.json",
		"/api/contribuyentes/" + rucSUNAT: "consultar_200.json",
	}[r.URL.Path]
	text := `{"error":"no"}`
	if status == 200 {
		text = contract(s.t, body)
	}
	if status == 404 {
		text = contract(s.t, "consultar_404.json")
	}
	return raw(status, text, headers...)(r)
}

func (s *says) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// every calls do at once and then after each pause, for as long as it says.
func every(pause, long time.Duration, do func()) {
	for start := time.Now(); time.Since(start) < long; time.Sleep(pause) {
		do()
	}
}

func TestAQuotaThatIsRaisedIsSeen(t *testing.T) {
	for name, test := range map[string]struct {
		reset  time.Duration // as the header that closes the gate says
		raised time.Duration // as the headers say afterwards
		left   string        // "" for an answer without headers
		op     string
	}{
		"before the reset":                      {20 * time.Hour, 19 * time.Hour, "500", "consultar"},
		"an odd header was told, and is undone": {47 * time.Hour, 5 * time.Hour, "500", "consultar"},
		"by operations without headers":         {47 * time.Hour, 0, "", "tipocambio"},
		"by one query":                          {20 * time.Hour, 19 * time.Hour, "1", "consultar"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", test.reset)
				client := newClient(t, s)
				require.NoError(t, operations["consultar"](t.Context(), client))
				s.now(429, "0", test.reset)
				every(time.Minute, 3*time.Hour, func() {
					assert.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrQuotaExceeded)
				})
				at := s.requests[1:]
				assert.Equal(t, []time.Duration{15 * time.Minute, 45 * time.Minute, 105 * time.Minute, 165 * time.Minute}, at, "one goes to see")

				s.now(200, test.left, test.raised)
				before := time.Now()
				every(time.Minute, time.Hour, func() { _ = operations[test.op](t.Context(), client) })
				require.NoError(t, operations[test.op](t.Context(), client), "it is seen within the hour")
				assert.LessOrEqual(t, time.Since(before), 61*time.Minute)
				assert.Greater(t, s.sent(), 15, "and all calls go again")
			})
		})
	}
	t.Run("a header that leaves some is believed upwards too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSays(t, "6", 20*time.Hour)
			client := newClient(t, s, fiscope.WithQuotaReserve(5))
			require.NoError(t, operations["consultar"](t.Context(), client))
			s.now(200, "500", 20*time.Hour)
			for range 10 {
				require.NoError(t, operations["consultar"](t.Context(), client))
			}
		})
	})
	t.Run("but not that of an attempt that began before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSays(t, "3", 20*time.Hour)
			s.delay = 2 * time.Second
			client := newClient(t, s)
			var wg sync.WaitGroup
			wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
			synctest.Wait()
			s.now(200, "0", 20*time.Hour)
			s.mu.Lock()
			s.delay = time.Second
			s.mu.Unlock()
			wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
			wg.Wait()
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
		})
	})
}

func TestWhatDoesNotOpenASpentQuotaBeforeItsReset(t *testing.T) {
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"a portal":                  raw(200, "<html>"),
		"a portal's JSON":           raw(200, `"login"`),
		"an error with status 200":  raw(200, `{"error":"cuota agotada"}`),
		"a redirect":                raw(302, "", "Location: https://portal.example/"),
		"an input that is refused":  raw(400, `{"error":"fecha"}`),
		"a gateway's 401":           raw(401, `{"code":"KEY"}`),
		"another server's 404":      raw(404, `{"error":"no"}`),
		"a failure":                 raw(500, `{}`),
		"an answer that breaks off": with(200, io.NopCloser(io.MultiReader(strings.NewReader(record), iotest.ErrReader(io.ErrUnexpectedEOF)))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", 20*time.Hour)
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					resp, err := s.RoundTrip(r)
					if s.sent() > 1 {
						return answer(r)
					}
					return resp, err
				}), fiscope.WithRetry(noRetries()))
				require.NoError(t, operations["consultar"](t.Context(), client))
				every(time.Minute, 10*time.Hour, func() { assert.Error(t, operations["tipocambio"](t.Context(), client)) })
				assert.LessOrEqual(t, s.sent(), 40, "of 600 calls")
				assert.GreaterOrEqual(t, s.sent(), 10, "every hour at least")
			})
		})
	}
	t.Run("and a bare 429 closes what was open for a moment", func(t *testing.T) {
		for name, answer := range map[string]func(*http.Request) (*http.Response, error){
			"200":       raw(200, contract(t, "tipocambio_200.json")),
			"NOT_FOUND": raw(404, contract(t, "consultar_404.json")),
		} {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", 20*time.Hour)
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					resp, err := s.RoundTrip(r)
					switch s.sent() {
					case 1:
						return resp, err
					case 2:
						return answer(r)
					}
					return raw(429, `{"error":"cuota"}`)(r)
				}))
				require.NoError(t, operations["consultar"](t.Context(), client))
				every(time.Minute, 10*time.Hour, func() { _ = operations["tipocambio"](t.Context(), client) })
				assert.LessOrEqual(t, s.sent(), 14, "%s: of 600 calls", name)
				assert.GreaterOrEqual(t, s.sent(), 10, name)
			})
		}
	})
}

func TestOneOfManyGoesToSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSays(t, "0", 20*time.Hour)
		client := newClient(t, s)
		require.NoError(t, operations["consultar"](t.Context(), client))
		s.now(429, "0", 20*time.Hour)
		time.Sleep(15 * time.Minute)
		s.delay = time.Second
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				err := operations["consultar"](t.Context(), client)
				assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
			})
		}
		wg.Wait()
		assert.Equal(t, 2, s.sent())
	})
}

func TestWhatOnlyAReserveRefusesNeverGoesToSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSays(t, "3", 20*time.Hour)
		client := newClient(t, s, fiscope.WithQuotaReserve(5))
		require.NoError(t, operations["consultar"](t.Context(), client))
		every(time.Minute, 19*time.Hour, func() {
			assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
			assert.ErrorIs(t, operations["tipocambio"](t.Context(), client), fiscope.ErrQuotaExceeded)
		})
		assert.Equal(t, 1, s.sent())
	})
}

// A store knows what the whole fleet sends: who looks for the fleet is its decision.
func TestWithAStoreTheStoreSaysWhoGoesToSee(t *testing.T) {
	for name, grant := range map[string]fiscope.Grant{"spent": fiscope.QuotaSpent, "granted": fiscope.QuotaGranted} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", 20*time.Hour)
				store := newFleetStore()
				client := newClient(t, s, fiscope.WithStore(store))
				require.NoError(t, operations["consultar"](t.Context(), client))
				asked := 0
				store.reserve = func(int) fiscope.Reservation {
					asked++
					return fiscope.Reservation{Grant: grant, Token: "t", Until: time.Now().Add(time.Hour)}
				}
				every(time.Minute, 14*time.Minute, func() { assert.Error(t, operations["consultar"](t.Context(), client)) })
				assert.Zero(t, asked)
				time.Sleep(time.Minute)
				err := operations["consultar"](t.Context(), client)
				assert.Equal(t, 1, asked)
				if grant == fiscope.QuotaSpent {
					require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
					every(time.Minute, 2*time.Hour, func() { assert.Error(t, operations["consultar"](t.Context(), client)) })
					assert.Equal(t, 3, asked, "nor does this process ask it at every call")
					assert.Equal(t, 1, s.sent())
				} else {
					require.NoError(t, err)
					assert.Equal(t, 2, s.sent())
				}
			})
		})
	}
}

// By our clock the day ends ten minutes before it ends at the service.
func TestAResetThatOurClockSeesTooEarly(t *testing.T) {
	for name, test := range map[string]struct {
		left    string // before the reset
		status  int    // after it
		headers string // its remaining; "" for no headers
	}{
		"refused with headers":                {"0", 429, "0"},
		"refused without headers":             {"0", 429, ""},
		"refused by 401":                      {"0", 401, "0"},
		"some were left, and are spent since": {"3", 429, "0"},
		"the same, and no headers":            {"3", 429, ""},
		"the same, by 403":                    {"3", 403, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, test.left, time.Hour)
				client := newClient(t, s)
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(time.Hour)
				s.now(test.status, test.headers, 0)
				s.mu.Lock()
				s.requests = nil
				s.mu.Unlock()
				every(500*time.Millisecond, 10*time.Minute, func() {
					err := operations["tipocambio"](t.Context(), client)
					var e *fiscope.Error
					if assert.ErrorAs(t, err, &e) && e.Attempts == 0 {
						assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
						assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
						assert.Positive(t, e.RetryAfter, "it says when to come again")
						assert.LessOrEqual(t, e.RetryAfter, 5*time.Minute)
					}
				})
				assert.LessOrEqual(t, s.sent(), 12, "of 1200 calls")
				for i := range s.requests[1:] {
					apart := s.requests[i+1] - s.requests[i]
					assert.GreaterOrEqual(t, apart, time.Second)
					assert.LessOrEqual(t, apart, 5*time.Minute+time.Second)
				}
				s.now(200, "1000", 24*time.Hour)
				every(time.Second, 5*time.Minute, func() { _ = operations["consultar"](t.Context(), client) })
				require.NoError(t, operations["consultar"](t.Context(), client), "open again within five minutes")
			})
		})
	}
}

// Each answer puts the reset off by a little.
func TestAResetThatIsAlwaysALittleAhead(t *testing.T) {
	for _, ahead := range []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", 10*time.Minute)
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					if s.sent() > 0 {
						s.now(429, "0", ahead)
					}
					return s.RoundTrip(r)
				}))
				require.NoError(t, operations["consultar"](t.Context(), client))
				every(100*time.Millisecond, 100*time.Minute, func() { _ = operations["tipocambio"](t.Context(), client) })
				require.Greater(t, s.sent(), 20)
				assert.Less(t, s.sent(), 50, "they back off")
				for i := range s.requests[1:] {
					assert.GreaterOrEqual(t, s.requests[i+1]-s.requests[i], time.Second)
				}
			})
		})
	}
}

func TestAProbeThatIsThrottledDoesNotRefuseTheOthers(t *testing.T) {
	for name, test := range map[string]struct{ left, extra string }{
		"some are left":       {"500", ""},
		"a short Retry-After": {"", "Retry-After: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", time.Hour)
				client := newClient(t, s, fiscope.WithRetry(noRetries()))
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(time.Hour)
				s.now(429, test.left, 24*time.Hour)
				s.extra, s.delay = test.extra, 500*time.Millisecond
				var refused, answered atomic.Int64
				var wg sync.WaitGroup
				for range 50 {
					wg.Go(func() {
						if err := operations["consultar"](t.Context(), client); err != nil {
							refused.Add(1)
							return
						}
						answered.Add(1)
					})
				}
				synctest.Wait()
				s.now(200, "400", 24*time.Hour)
				s.mu.Lock()
				s.extra = ""
				s.mu.Unlock()
				wg.Wait()
				assert.EqualValues(t, 1, refused.Load(), "only the one that was throttled")
				assert.EqualValues(t, 49, answered.Load())
			})
		})
	}
}

func TestAProbeThatOpensTheDayOpensItForAll(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		left   string
	}{
		"with headers":           {200, "1000"},
		"without headers":        {200, ""},
		"404":                    {404, "1000"},
		"404 without headers":    {404, ""},
		"401 of another failure": {401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSays(t, "0", time.Hour)
				client := newClient(t, s)
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(time.Hour)
				s.now(test.status, test.left, 24*time.Hour)
				s.delay = time.Second
				start := time.Now()
				var wg sync.WaitGroup
				for range 50 {
					wg.Go(func() {
						err := operations["consultar"](t.Context(), client)
						assert.NotErrorIs(t, err, fiscope.ErrQuotaExceeded)
					})
				}
				wg.Wait()
				assert.Equal(t, 2*time.Second, time.Since(start), "one first, and then all side by side")
				assert.Equal(t, 51, s.sent())
			})
		})
	}
}

func TestALookThatDoesNotLeaveIsAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSays(t, "0", 20*time.Hour)
		client := newClient(t, s, fiscope.WithRateLimit(1, 1), fiscope.WithRetry(noRetries()))
		require.NoError(t, operations["consultar"](t.Context(), client))
		s.now(200, "500", 20*time.Hour)
		time.Sleep(15 * time.Minute)
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, operations["consultar"](ctx, client))
		}
		time.Sleep(time.Second)
		require.NoError(t, operations["consultar"](t.Context(), client))
	})
}
