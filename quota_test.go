package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// metered is a service with a quota, seen from the wire: it counts, and says on lookups what is left.
type metered struct {
	mu      sync.Mutex
	left    int
	refused int
	sent    int
}

func (m *metered) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.sent++
	status, body := 200, record
	if m.left--; m.left < 0 {
		m.refused++
		m.left, status, body = 0, 429, `{"error":"cuota agotada","code":"QUOTA_EXCEEDED"}`
	}
	left := m.left
	m.mu.Unlock()
	return after(time.Duration(rand.IntN(1000))*time.Millisecond, // answers come out of order
		raw(status, body, "X-RateLimit-Limit: 1000", fmt.Sprint("X-RateLimit-Remaining: ", left), "X-RateLimit-Reset: 2000-01-02T00:00:00Z"))(r)
}

func TestAFleetKeepsToItsQuota(t *testing.T) {
	for name, reserve := range map[string]int{"": 0, "with a reserve": 20} {
		inBubble(t, name, func(t *testing.T) {
			s, m := newMemoryStore(), &metered{left: 500}
			clients := make([]*fiscope.Client, 6)
			for i := range clients {
				clients[i] = withStore(t, s, m, fiscope.WithQuotaReserve(reserve))
			}
			together(60, func(i int) {
				for range 20 {
					_ = operations["consultar"](t.Context(), clients[i%6])
				}
			})
			assert.Zero(t, m.refused)
			assert.LessOrEqual(t, m.sent, 500-reserve)
			assert.GreaterOrEqual(t, m.sent, 475-reserve, "95 % are used")
			asked := s.calls()
			together(60, func(i int) {
				assert.ErrorIs(t, operations["consultar"](t.Context(), clients[i%6]), fiscope.ErrQuotaExceeded)
			})
			assert.LessOrEqual(t, s.calls()-asked, 60)
			asked = s.calls()
			for range 100 {
				require.ErrorIs(t, operations["consultar"](t.Context(), clients[0]), fiscope.ErrQuotaExceeded)
				time.Sleep(10 * time.Millisecond)
			}
			assert.LessOrEqual(t, s.calls()-asked, 2, "a refused call asks once a second")
		})
	}
}

// One call a minute, from midnight on. The headers' day ends at noon.
func TestADayOfTheQuota(t *testing.T) {
	const noon, tomorrow = "X-RateLimit-Reset: 2000-01-01T12:00:00Z", "X-RateLimit-Reset: 2000-01-02T12:00:00Z"
	left := func(n int) handler {
		return raw(200, record, "X-RateLimit-Limit: 500", fmt.Sprint("X-RateLimit-Remaining: ", n), noon)
	}
	spent := raw(429, `{"error":"cuota agotada"}`, "X-RateLimit-Remaining: 0", noon)
	say := func(first handler, then handler) func(int, time.Duration) handler {
		return func(n int, _ time.Duration) handler {
			if n == 1 {
				return first
			}
			return then
		}
	}
	for name, test := range map[string]struct {
		opts        []fiscope.Option
		answer      func(n int, at time.Duration) handler // to the n-th request
		hours       int
		least, most int // requests
	}{
		"an unlimited plan, by its limit": {nil, say(raw(200, record, "X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0", noon), raw(200, record, "X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0", noon)), 10, 600, 600},
		"... by what is left":             {nil, say(left(-1), left(-1)), 10, 600, 600},
		"... with a reserve":              {[]fiscope.Option{fiscope.WithQuotaReserve(5)}, say(left(-1), left(-1)), 10, 600, 600},
		"one odd header": {nil, func(n int, _ time.Duration) handler {
			if n == 100 {
				return left(0)
			}
			return left(480 - n)
		}, 3, 179, 180},
		"a counter that stays at 0":       {nil, say(left(0), left(0)), 10, 590, 600},
		"no headers but the first":        {nil, say(left(0), raw(200, record)), 10, 590, 600},
		"the day is spent, by a 429":      {nil, say(spent, spent), 10, 40, 41},
		"... by a header, and then a 429": {nil, say(left(0), spent), 10, 40, 42},
		"... by a 429 with a long wait":   {nil, say(raw(429, "", "Retry-After: 36000", noon), spent), 10, 40, 41},
		"... by a 401":                    {nil, say(raw(401, "", "X-RateLimit-Remaining: 0", noon), left(5)), 1, 55, 60},
		"until its reset, and one a minute": {nil, func(_ int, at time.Duration) handler {
			return map[bool]handler{true: spent, false: raw(200, record, "X-RateLimit-Remaining: 400", tomorrow)}[at < 12*time.Hour+10*time.Minute]
		}, 13, 48 + 10 + 49, 48 + 11 + 51},
		"a probe that the service does not serve": {nil, say(left(0), raw(503, "")), 10, 590, 600},
		"with a reserve none goes beyond":         {[]fiscope.Option{fiscope.WithQuotaReserve(5)}, say(left(0), left(0)), 10, 1, 1},
		"what is left above the reserve goes":     {[]fiscope.Option{fiscope.WithQuotaReserve(200)}, func(n int, _ time.Duration) handler { return left(206 - n) }, 10, 6, 6},
		"a 429 that says nothing, for hours":      {nil, say(left(900), raw(429, "<html>")), 10, 46, 47},
		"... between answers": {nil, func(n int, _ time.Duration) handler {
			return map[bool]handler{true: raw(404, `{"error":"x","code":"NOT_FOUND"}`), false: raw(429, "<html>")}[n%6 == 0]
		}, 10, 600, 600},
		"without the gate": {[]fiscope.Option{fiscope.WithoutQuotaGate()}, say(left(0), spent), 10, 600, 600},
	} {
		for with, change := range map[string]func(*memoryStore){"": nil, ", with a Store": sound, ", while it is away": away} {
			inBubble(t, name+with, func(t *testing.T) {
				start, sent, opts := time.Now(), 0, append(test.opts, fiscope.WithMaxRetries(0))
				if change != nil {
					s := newMemoryStore()
					s.set(change)
					opts = append(opts, fiscope.WithStore(s))
				}
				client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
					sent++
					return test.answer(sent, time.Since(start))(r)
				}), opts...)
				for range test.hours * 60 {
					_ = operations["consultar"](t.Context(), client)
					time.Sleep(time.Minute)
				}
				assert.GreaterOrEqual(t, sent, test.least)
				assert.LessOrEqual(t, sent, test.most)
			})
		}
	}
}

// Validations carry no headers: a process that only makes them keeps nothing, and says so.
func TestAReserveOfWhichNothingIsKnown(t *testing.T) {
	t.Run("alone", func(t *testing.T) { testUnknownReserve(t) })
	t.Run("with a Store", func(t *testing.T) { testUnknownReserve(t, fiscope.WithStore(newMemoryStore())) })
	inBubble(t, "that the Store knows", func(t *testing.T) {
		s := newMemoryStore()
		other := withStore(t, s, raw(200, record, "X-RateLimit-Remaining: 900", "X-RateLimit-Reset: 2000-01-01T12:00:00Z"))
		require.NoError(t, operations["consultar"](t.Context(), other))
		synctest.Wait()
		client := withStore(t, s, raw(200, verdict), fiscope.WithQuotaReserve(200))
		require.NoError(t, operations["validar"](t.Context(), client))
		assert.Zero(t, client.Stats().ReserveUnknown)
	})
}

func testUnknownReserve(t *testing.T, opts ...fiscope.Option) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		opts = append(append(opts, w.options()...), fiscope.WithQuotaReserve(200))
		client, _ := newChangingClient(t, raw(200, verdict), opts...)
		for range 48 {
			require.NoError(t, operations["validar"](t.Context(), client))
			time.Sleep(time.Hour)
		}
		assert.EqualValues(t, 48, client.Stats().ReserveUnknown)
		_, records := w.seen()
		warnings := 0
		for _, r := range records {
			if r.level > 0 {
				assert.Contains(t, r.message, "Make a lookup first")
				warnings++
			}
		}
		assert.LessOrEqual(t, warnings, 3, "one a day")
		assert.GreaterOrEqual(t, warnings, 2)
	})
}

// A call whose context ends while it is under way takes what it sent, and one that was not sent takes nothing.
func TestACallerWhoLeavesTheGateTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{left: 31}
		client := newClient(t, m, fiscope.WithRateLimit(0.1, 1))
		require.NoError(t, operations["consultar"](t.Context(), client))
		together(20, func(int) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			assert.ErrorIs(t, operations["consultar"](ctx, client), context.Canceled)
		})
		assert.Equal(t, 1, m.sent)
		served := 0
		for range 40 {
			if err := operations["consultar"](t.Context(), client); err == nil {
				served++
			} else {
				assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
			}
		}
		assert.Equal(t, 30, served)
	})
}

func TestASpentQuotaSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 2000-01-01T01:00:00Z"))
		require.NoError(t, operations["consultar"](t.Context(), client))
		err := operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(1))
		require.ErrorContains(t, err, "1 queries are left, and 1 are kept in reserve until 1999-12-31 20:00 (Lima)")
	})
}

// A retry that the quota refuses leaves the error that it was for.
func TestARetryThatTheQuotaRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, raw(503, `{"error":"caído","code":"X"}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T12:00:00Z"))
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		require.ErrorContains(t, err, "caído")
		assert.Len(t, s.seen(), 1)
	})
}

// Attempts without a network must not use up the day.
func TestAnAttemptThatReachesNobodyTakesNothing(t *testing.T) {
	client, s := newChangingClient(t, raw(200, record, "X-RateLimit-Remaining: 3", "X-RateLimit-Reset: "+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	require.NoError(t, operations["consultar"](t.Context(), client))
	s.become(refusesToDial)
	for range 5 {
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
	}
	assert.Equal(t, new(3), client.RateLimit().Remaining)
	s.become(raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), client))
}

// What a 429 means that follows an answer with the header of two queries left, or with none, by the pause that it asks for.
func TestWhatA429Says(t *testing.T) {
	const left, tomorrow = "X-RateLimit-Remaining: 2", "X-RateLimit-Reset: 2000-01-02T00:00:00Z"
	for name, test := range map[string]struct {
		answer      handler
		pause       time.Duration
		spent       bool // the next call is not sent
		spentIfLeft bool // ... also if queries are left
	}{
		"nothing":                   {raw(429, ""), time.Second, false, false},
		"a page":                    {raw(429, "<html>Cuota agotada"), time.Second, false, false},
		"a sentence":                {raw(429, `{"error":"Cuota diaria agotada"}`), time.Second, false, false},
		"another code":              {raw(429, `{"error":"x","code":"TOO_MANY_REQUESTS"}`), time.Second, false, false},
		"a wait that is unreadable": {raw(429, `{"error":"x"}`, "Retry-After: 1s"), time.Second, false, false},
		"a code of a quota":         {raw(429, `{"error":"x","code":"DailyQuotaReached"}`), 0, true, false},
		"... in Spanish":            {raw(429, `{"error":{"code":"cuota_agotada","message":"x"}}`), 0, true, false},
		"queries are left":          {raw(429, `{"error":"x"}`, left, tomorrow), time.Minute, false, false},
		"... in an hour":            {raw(429, "", left, tomorrow, "Retry-After: 3600"), time.Hour, false, false},
		"none is left":              {raw(429, "", "X-RateLimit-Remaining: 0", tomorrow), 24 * time.Hour, true, true},
		"... of no limit":           {raw(429, "", "X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0", tomorrow), 24 * time.Hour, true, true},
		"a reset":                   {raw(429, `{"error":"x"}`, tomorrow), 24 * time.Hour, true, false},
		"seconds":                   {raw(429, `{"error":"x"}`, "Retry-After: 30"), 30 * time.Second, false, false},
		"an hour":                   {raw(429, "", "Retry-After: 3600"), time.Hour, true, true},
	} {
		for _, known := range []bool{false, true} {
			inBubble(t, fmt.Sprint(name, ", known: ", known), func(t *testing.T) {
				first := raw(200, verdict)
				if known {
					first = raw(200, verdict, left, tomorrow)
				}
				client, s := newChangingClient(t, first)
				require.NoError(t, operations["validar"](t.Context(), client))
				s.become(test.answer)
				var e *fiscope.Error
				require.ErrorAs(t, operations["validar"](t.Context(), client), &e)
				require.ErrorIs(t, e, fiscope.ErrQuotaExceeded)
				spent := test.spentIfLeft || test.spent && !known
				if spent != test.spent {
					test.pause = time.Minute
				}
				assert.Equal(t, test.pause, e.RetryAfter, e)
				s.become(raw(200, record))
				err := operations["consultar"](t.Context(), client)
				assert.Equal(t, spent, err != nil, err)
				if name == "an hour" {
					assert.ErrorContains(t, err, "no queries were left; the next attempt is at 19:15 (Lima); nothing was sent")
				}
			})
		}
	}
}

// tooFast is a 429 that says nothing.
var tooFast = raw(429, `{"error":"Demasiadas consultas"}`)

func TestThePauseOfA429ThatSaysNothing(t *testing.T) {
	for name, other := range map[string]handler{
		"a result": raw(200, record), "NOT_FOUND": raw(404, `{"error":"x","code":"NOT_FOUND"}`), "500": raw(500, ""), "another 429": raw(429, "", "Retry-After: 1"),
	} {
		for _, opts := range [][]fiscope.Option{nil, {fiscope.WithoutQuotaGate()}} {
			synctest.Test(t, func(t *testing.T) {
				client, s := newChangingClient(t, tooFast, opts...)
				for range 2 {
					for _, seconds := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
						var e *fiscope.Error
						require.ErrorAs(t, operations["validar"](t.Context(), client), &e, name)
						assert.Equal(t, seconds*time.Second, e.RetryAfter, name)
						require.ErrorContains(t, e, fmt.Sprintf("(HTTP 429): the answer says \"Demasiadas consultas\"; try again in %s", e.RetryAfter))
						s.become(broken(errors.New("connection reset"))) // it is no answer
						require.ErrorIs(t, operations["tipocambio"](t.Context(), client), fiscope.ErrUnavailable)
						s.become(tooFast)
					}
					s.become(other)
					_ = operations["consultar"](t.Context(), client)
					s.become(tooFast)
				}
			})
		}
	}
}

func TestALongRowOf429sThatSayNothingClosesTheGate(t *testing.T) {
	for name, change := range map[string]func(*memoryStore){"": nil, "with a Store": sound, "while it is away": away} {
		inBubble(t, name, func(t *testing.T) {
			time.Sleep(18*time.Hour + 84*time.Second) // it is 13:01 in Lima
			s := newMemoryStore()
			var opts []fiscope.Option
			if change != nil {
				s.set(change)
				opts = append(opts, fiscope.WithStore(s))
			}
			client, far := newChangingClient(t, tooFast, opts...)
			for range 5 {
				require.ErrorContains(t, operations["consultar"](t.Context(), client), "HTTP 429", "all are sent")
				time.Sleep(84 * time.Second)
			}
			for op, do := range operations {
				var e *fiscope.Error
				require.ErrorAs(t, do(t.Context(), client), &e, op)
				require.ErrorIs(t, e, fiscope.ErrQuotaExceeded)
				assert.Equal(t, 15*time.Minute-84*time.Second, e.RetryAfter)
				assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
				assert.ErrorContains(t, e, "the service refused with 429 at 13:07; the next attempt is at 13:22 (Lima)")
			}
			assert.EqualValues(t, 5, far.asked.Load())
			if change != nil {
				other, _ := newChangingClient(t, raw(200, record), opts...)
				require.NoError(t, operations["consultar"](t.Context(), other), "other processes may be answered")
			}

			time.Sleep(15*time.Minute - 84*time.Second)
			together(9, func(int) { _ = operations["consultar"](t.Context(), client) })
			assert.EqualValues(t, 6, far.asked.Load(), "one probe")
			require.ErrorContains(t, operations["consultar"](t.Context(), client), "at 13:22; the next attempt is at 13:37")
			time.Sleep(15 * time.Minute)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, operations["consultar"](ctx, client), context.Canceled)
			far.become(raw(200, record))
			require.NoError(t, operations["consultar"](t.Context(), client), "the probe was not sent: another may be")
			far.become(tooFast)
			for range 3 {
				require.ErrorContains(t, operations["consultar"](t.Context(), client), "HTTP 429")
			}
		})
	}
}

func TestWithoutAGateA429ClosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, raw(429, `{"error":"x","code":"CUOTA_DIARIA"}`), fiscope.WithoutQuotaGate())
		for range 20 {
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
			time.Sleep(time.Minute)
		}
		assert.EqualValues(t, 20, s.asked.Load())
		assert.Contains(t, fiscope.TextoParaUsuario(operations["consultar"](t.Context(), client)), "no quedan consultas")
	})
}

// Of two processes with one Store one only validates. It gets a 429.
func TestA429ThatSaysNothingToOneOfAFleet(t *testing.T) {
	for name, test := range map[string]struct {
		answer handler
		left   bool // the other's header said so
		spent  bool
	}{
		"it says nothing":                {tooFast, false, false},
		"... while queries are left":     {tooFast, true, false},
		"a code, while queries are left": {raw(429, `{"error":"x","code":"QUOTA"}`), true, false},
		"a code":                         {raw(429, `{"error":"x","code":"QUOTA"}`), false, true},
	} {
		inBubble(t, name, func(t *testing.T) {
			s, answer := newMemoryStore(), raw(200, record)
			if test.left {
				answer = raw(200, record, "X-RateLimit-Remaining: 9993", "X-RateLimit-Reset: 2000-01-02T00:00:00Z")
			}
			lookups := withStore(t, s, answer)
			validates := withStore(t, s, test.answer)
			require.NoError(t, operations["consultar"](t.Context(), lookups))
			synctest.Wait()
			require.ErrorContains(t, operations["validar"](t.Context(), validates), "HTTP 429")
			synctest.Wait()
			err := operations["consultar"](t.Context(), lookups)
			assert.Equal(t, test.spent, errors.Is(err, fiscope.ErrQuotaExceeded), err)
		})
	}
}

// A provider that allows ten queries a second refuses the others with a 429 that says nothing.
func TestABatchBeforeAProviderOfTenASecond(t *testing.T) {
	for name, takes := range map[string]time.Duration{"at once": 0, "after a while": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				from, sent := time.Now(), 0
				client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					if now := time.Now(); now.Sub(from) >= time.Second {
						from, sent = now.Truncate(time.Second), 0
					}
					sent++
					refused := sent > 10
					mu.Unlock()
					if refused {
						return tooFast(r)
					}
					return after(takes, map[string]handler{http.MethodGet: ofItsRUC, http.MethodPost: raw(200, verdict)}[r.Method])(r)
				}))
				start, done := time.Now(), make(chan struct{})
				var others sync.WaitGroup
				others.Go(func() { // another SOL user, and lookups
					mine := credenciales
					mine.Usuario = "OTRO0001"
					for n := 0; ; n++ {
						select {
						case <-done:
							return
						case <-time.After(1100 * time.Millisecond):
						}
						for _, err := range []error{consultar(t.Context(), client, n), second(client.CPE.Validar(t.Context(), factura, mine))} {
							if err != nil {
								assert.ErrorContains(t, err, "HTTP 429", "only the provider refuses")
							}
						}
					}
				})
				lines, stopped := allReceipts(t, client.CPE.ValidarLote(t.Context(), receipts(3000), credenciales, fiscope.LotePolicy{}))
				assert.Less(t, time.Since(start), 10*time.Minute)
				close(done)
				others.Wait()
				require.Nil(t, stopped)
				assert.Len(t, lines, 3000)
				for position, err := range lines {
					require.NoError(t, err, position)
				}
			})
		})
	}
}
