package fiscope_test

import (
	"context"
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

// metered is a service with a quota, seen from the wire: it counts, and tells on lookups what is left.
type metered struct {
	t        testing.TB
	left     atomic.Int64
	requests atomic.Int64
	refused  atomic.Int64
	reset    func() string // X-RateLimit-Reset; "" for no header
	delay    func() time.Duration
	quietOn  string // a path whose answers carry no headers
}

func (m *metered) RoundTrip(r *http.Request) (*http.Response, error) {
	m.requests.Add(1)
	left := m.left.Add(-1)
	body, status := contract(m.t, "consultar_200.json"), 200
	if r.URL.Path == "/api/tipocambio" {
		body = contract(m.t, "tipocambio_200.json")
	}
	if left < 0 {
		m.refused.Add(1)
		m.left.Add(1)
		left, status, body = 0, 429, `{"error":"cuota agotada","code":"QUOTA_EXCEEDED"}`
	}
	if m.delay != nil {
		select {
		case <-time.After(m.delay()):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	var headers []string
	if m.quietOn == "" || r.URL.Path != m.quietOn {
		headers = []string{"X-RateLimit-Limit: 1000", fmt.Sprint("X-RateLimit-Remaining: ", left)}
		if m.reset != nil && m.reset() != "" {
			headers = append(headers, "X-RateLimit-Reset: "+m.reset())
		}
	}
	return raw(status, body, headers...)(r)
}

func inAnHour() string {
	return time.Now().Truncate(time.Hour).Add(time.Hour).UTC().Format(time.RFC3339)
}

func TestHundredGoroutinesNeverSendMoreThanTheHeadersAllow(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			m := &metered{t: t, reset: inAnHour, delay: func() time.Duration { // answers come out of order
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(random.IntN(1000)) * time.Millisecond
			}}
			m.left.Store(31)
			client := newClient(t, m)
			require.NoError(t, operations["consultar"](t.Context(), client)) // the first header

			var answered, refused atomic.Int64
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					switch err := operations["consultar"](t.Context(), client); {
					case err == nil:
						answered.Add(1)
					default:
						assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
						refused.Add(1)
					}
				})
			}
			wg.Wait()
			assert.EqualValues(t, 30, answered.Load(), "every query that is left is used")
			assert.EqualValues(t, 70, refused.Load())
			assert.EqualValues(t, 31, m.requests.Load(), "and not one more leaves")
			assert.Zero(t, m.refused.Load())
			assert.EqualValues(t, 70, client.Stats().Avoided[fiscope.AvoidedQuota])
		})
	}
}

func TestASpentQuotaIsRefusedUntilItsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(1)
		client := newClient(t, m)
		require.NoError(t, operations["consultar"](t.Context(), client))
		for _, do := range operations {
			err := do(t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Equal(t, time.Hour, e.RetryAfter, "it says when to come back")
			assert.ErrorContains(t, err, "until 2000-01-01T01:00:00Z")
		}
		assert.EqualValues(t, 1, m.requests.Load())

		time.Sleep(time.Hour)
		m.left.Store(5)
		require.NoError(t, operations["consultar"](t.Context(), client))
	})
}

func TestAfterTheResetOneGoesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		left     int64 // what the new day brings
		requests int64
	}{
		"the new day has begun":                    {1000, 51},
		"the service's clock is behind":            {0, 2},
		"the new day has fewer queries than calls": {10, 11},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &metered{t: t, reset: inAnHour}
				m.left.Store(1)
				client := newClient(t, m)
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(time.Hour)
				m.left.Store(test.left)
				if test.left == 0 {
					m.reset = func() string { return time.Now().Add(-time.Second).UTC().Format(time.RFC3339) } // garbage by our clock
				}
				m.delay = func() time.Duration { return time.Second }
				var wg sync.WaitGroup
				for range 50 {
					wg.Go(func() {
						if err := operations["consultar"](t.Context(), client); err != nil {
							assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
						}
					})
				}
				time.Sleep(500 * time.Millisecond)
				assert.EqualValues(t, 2, m.requests.Load(), "one asks, the others wait")
				wg.Wait()
				assert.Equal(t, test.requests, m.requests.Load())
			})
		})
	}
}

func TestAProbeThatBringsNoVerdictIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(1)
		down := atomic.Bool{}
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			if down.Load() {
				time.Sleep(time.Second)
				return raw(503, "")(r)
			}
			return m.RoundTrip(r)
		}), fiscope.WithRetry(noRetries()))
		require.NoError(t, operations["consultar"](t.Context(), client))
		time.Sleep(time.Hour)
		m.left.Store(100)
		down.Store(true)
		var wg sync.WaitGroup
		start := time.Now()
		for range 3 {
			wg.Go(func() { assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable) })
		}
		wg.Wait()
		assert.Equal(t, 3*time.Second, time.Since(start), "one after the other")
		down.Store(false)
		require.NoError(t, operations["consultar"](t.Context(), client))
	})
}

func TestWhatTheGateDoesNotRefuse(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
	}{
		"zero without a reset":      {[]string{"X-RateLimit-Remaining: 0"}},
		"zero with a garbage reset": {[]string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"}},
		"no headers":                {nil},
		"a reset alone":             {[]string{"X-RateLimit-Reset: 2000-01-01T01:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, raw(200, contract(t, "consultar_200.json"), test.headers...))
				for range 3 {
					require.NoError(t, operations["consultar"](t.Context(), client))
				}
				assert.Len(t, s.seen(), 3)
			})
		})
	}
}

func TestThrottlingIsNotTheEndOfTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t,
			raw(429, `{"error":"más despacio"}`, "X-RateLimit-Remaining: 500", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"),
			raw(200, contract(t, "consultar_200.json")))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
		require.NoError(t, operations["consultar"](t.Context(), client))
		assert.Len(t, s.seen(), 2)
	})
}

func TestHeadersOutOfOrder(t *testing.T) {
	const day, next = "2000-01-01T05:00:00Z", "2000-01-02T05:00:00Z"
	for name, test := range map[string]struct {
		headers []string // "remaining reset"
		spent   bool
	}{
		"the lower of one day stays":         {[]string{"0 " + day, "3 " + day}, true},
		"a later day replaces":               {[]string{"0 " + day, "3 " + next}, false},
		"an earlier day is old":              {[]string{"3 " + next, "0 " + day}, false},
		"without a reset it is the same day": {[]string{"3 " + day, "0 "}, true},
		"the lower without a reset stays":    {[]string{"0 " + day}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// All leave before the first answer, and the answers come in the order of the table.
				var sent atomic.Int64
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					n := int(sent.Add(1))
					if n > len(test.headers) {
						return raw(200, contract(t, "consultar_200.json"))(r)
					}
					time.Sleep(time.Duration(n) * time.Second)
					var remaining, reset string
					_, _ = fmt.Sscan(test.headers[n-1], &remaining, &reset)
					lines := []string{"X-RateLimit-Remaining: " + remaining}
					if reset != "" {
						lines = append(lines, "X-RateLimit-Reset: "+reset)
					}
					return raw(200, contract(t, "consultar_200.json"), lines...)(r)
				}))
				var wg sync.WaitGroup
				for range test.headers {
					wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
				}
				wg.Wait()
				err := operations["consultar"](t.Context(), client)
				if test.spent {
					require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
				} else {
					require.NoError(t, err)
				}
			})
		})
	}
}

// Only lookups carry headers here, as the contract documents: what the others cost is an estimate, and
// one that says "spent" lets one attempt through at a time.
func TestAQuotaSpentByTheEstimateLetsOneThroughAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour, quietOn: "/api/tipocambio"}
		m.left.Store(4)
		client := newClient(t, m)
		require.NoError(t, operations["consultar"](t.Context(), client)) // 3 are left
		for range 3 {
			require.NoError(t, operations["tipocambio"](t.Context(), client))
		}
		m.left.Add(100) // they were free after all, and nobody said so
		m.delay = func() time.Duration { return time.Second }
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { assert.NoError(t, operations["tipocambio"](t.Context(), client)) })
		}
		wg.Wait()
		assert.Equal(t, 5*time.Second, time.Since(start), "one at a time")
		assert.EqualValues(t, 9, m.requests.Load())
	})
}

// What was silent before a header is counted in it: it does not count twice.
func TestAHeaderCountsWhatWasSilentBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour, quietOn: "/api/tipocambio"}
		m.left.Store(10)
		client := newClient(t, m)
		require.NoError(t, operations["consultar"](t.Context(), client)) // 9 are left
		for range 3 {
			require.NoError(t, operations["tipocambio"](t.Context(), client)) // 6, and no header says so
		}
		require.NoError(t, operations["consultar"](t.Context(), client)) // 5
		m.delay = func() time.Duration { return time.Second }
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
		}
		wg.Wait()
		assert.Equal(t, time.Second, time.Since(start), "the five that are left go together")
	})
}

func TestQuotaReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(11)
		client := newClient(t, m, fiscope.WithQuotaReserve(5))
		for range 6 {
			require.NoError(t, operations["consultar"](t.Context(), client))
		}
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		require.ErrorContains(t, err, "5 queries are left")
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(3)), "a call may use more")
		require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(4)), fiscope.ErrQuotaExceeded)
		for range 4 {
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(0)))
		}
		require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(0)), fiscope.ErrQuotaExceeded)
		assert.EqualValues(t, 11, m.requests.Load())

		wrong := operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(-1), fiscope.WithQuotaReserve(-2))
		require.ErrorIs(t, wrong, fiscope.ErrInvalidRequest)
		require.ErrorContains(t, wrong, "it is -1", "of two wrong options the first is told")
	})
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithQuotaReserve(-1))
	require.Error(t, err)
}

func TestWithoutQuotaGateTheServiceDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(1)
		client := newClient(t, m, fiscope.WithoutQuotaGate())
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
		assert.EqualValues(t, 2, m.requests.Load())
	})
}

func TestACallThatWaitsAtTheGateCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(2)
		client := newClient(t, m)
		require.NoError(t, operations["consultar"](t.Context(), client))
		m.delay = func() time.Duration { return 5 * time.Second }
		go func() { assert.NoError(t, operations["consultar"](t.Context(), client)) }() // takes the last one
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := operations["consultar"](ctx, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		assert.EqualValues(t, 2, m.requests.Load())
		time.Sleep(5 * time.Second)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func noRetries() fiscope.RetryPolicy {
	p := fiscope.DefaultRetryPolicy()
	p.MaxRetries = 0
	return p
}
