package fiscope_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// calendar is a clock that stands still, unless a test moves it.
type calendar struct {
	mu sync.Mutex
	at time.Time
}

// newCalendar returns a clock of an hour in Lima, far from that of a bubble.
func newCalendar(t *testing.T, hour string) *calendar {
	at, err := time.ParseInLocation(time.DateTime, hour, fiscope.Lima)
	require.NoError(t, err)
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

// Days pass by the clock of the client, and no time passes.
func TestDaysPassByTheClock(t *testing.T) {
	spent := []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-21T05:00:00Z"}
	for name, test := range map[string]struct {
		op     string
		opts   []fiscope.Option
		begins handler
		class  string        // of the next call
		until  time.Duration // it goes by then, and not a second before
		wait   bool          // which its error says
	}{
		"a spent quota":         {"consultar", nil, raw(200, record, spent...), "quota_exceeded", 15 * time.Hour, true},
		"a blocked clave":       {"validar", nil, raw(401, contract(t, "validar_401.json")), "sol_credentials_blocked", 24 * time.Hour, true},
		"a kept taxpayer":       {"consultar", []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, raw(200, record), "", 12 * time.Hour, false},
		"that there is no rate": {"hoy", []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, raw(404, contract(t, "tipocambio_404.json")), "not_found", 8 * time.Hour, false},
		"a rate of today":       {"hoy", []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, raw(200, price), "", 15 * time.Hour, false},
	} {
		inBubble(t, name, func(t *testing.T) {
			clock := newCalendar(t, "2026-11-20 09:00:00")
			client, s := newChangingClient(t, test.begins, append(test.opts, fiscope.WithClock(clock.now))...)
			_ = operations[test.op](t.Context(), client)
			ask := func() (bool, error) {
				before := s.asked.Load()
				err := operations[test.op](t.Context(), client)
				return s.asked.Load() > before, err
			}
			sent, err := ask()
			assert.False(t, sent)
			require.Equal(t, test.class, fiscope.ErrorClass(err))
			if test.wait {
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, test.until, e.RetryAfter)
			}
			if test.class != "quota_exceeded" { // which one a minute may find out
				clock.move(test.until - time.Second)
				sent, _ = ask()
				assert.False(t, sent)
				clock.move(-test.until + time.Second)
			}
			clock.move(test.until)
			sent, _ = ask()
			assert.True(t, sent)
		})
	}
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithClock(nil))
	require.ErrorContains(t, err, "WithClock")
}

// A clock that is set back makes nothing older than it is, and blocks nothing for good.
func TestAClockThatIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newCalendar(t, "2026-11-20 09:00:00")
		client, s := newChangingClient(t, raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-21T05:00:00Z"), fiscope.WithClock(clock.now), fiscope.WithCache(fiscope.CachePolicy{}))
		require.NoError(t, operations["consultar"](t.Context(), client))
		clock.move(-30 * 24 * time.Hour)
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
		assert.Equal(t, fiscope.SourceService, resp.Source, "its age is unknown")
		assert.EqualValues(t, 2, s.asked.Load())
	})
}

// What a process with another clock kept is as old for all, and as long fresh.
func TestClocksThatDifferShareAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := newMemoryStore(), 0
		process := func(opts ...fiscope.Option) *fiscope.Client {
			return withStore(t, s, handler(func(r *http.Request) (*http.Response, error) {
				asked++
				return raw(200, record)(r)
			}), append(opts, fiscope.WithCache(fiscope.CachePolicy{}))...)
		}
		for n, clock := range []fiscope.Option{fiscope.WithClock(newCalendar(t, "2024-02-29 12:00:00").now), fiscope.WithClock(time.Now), fiscope.WithClock(newCalendar(t, "2030-01-01 12:00:00").now)} {
			client := process(clock)
			require.NoError(t, operations["consultar"](t.Context(), client))
			require.NoError(t, client.Close(t.Context()))
			assert.Equal(t, 1, asked, n)
			time.Sleep(time.Hour)
		}
	})
}
