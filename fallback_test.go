package fiscope_test

import (
	"context"
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

// changing is a service that answers as it was last set.
type changing struct {
	now   atomic.Pointer[handler]
	asked atomic.Int64
}

func newChanging(h handler) *changing {
	s := new(changing)
	s.become(h)
	return s
}

// newChangingClient returns a client, without retries, of a service that begins with h.
func newChangingClient(t *testing.T, h handler, opts ...fiscope.Option) (*fiscope.Client, *changing) {
	s := newChanging(h)
	return newClient(t, s, append([]fiscope.Option{fiscope.WithMaxRetries(0)}, opts...)...), s
}

func (s *changing) become(h handler) { s.now.Store(&h) }

func (s *changing) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	return (*s.now.Load())(r)
}

// withOutage returns a client that knows the RUCs up to known, all of which are stale, and a service that by now does as h.
func withOutage(t *testing.T, known int, h handler, opts ...fiscope.Option) (*fiscope.Client, *changing) {
	client, s := newChangingClient(t, ofItsRUC, append([]fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour})}, opts...)...)
	for n := range known {
		require.NoError(t, consultar(t.Context(), client, n))
	}
	time.Sleep(13 * time.Hour)
	s.become(h)
	return client, s
}

func consultar(ctx context.Context, client *fiscope.Client, n int, opts ...fiscope.CallOption) error {
	_, err := client.Contribuyentes.Consultar(ctx, ruc(n), opts...)
	return err
}

// The service hangs, and the caller has some seconds.
func TestAFallbackAnswersInTime(t *testing.T) {
	var asked atomic.Int64
	for name, opts := range map[string][]fiscope.Option{
		"stale":           nil,
		"Respaldo":        {fiscope.WithRespaldo(padronDelJueves(&asked))},
		"... and retries": {fiscope.WithRespaldo(padronDelJueves(&asked)), fiscope.WithMaxRetries(2)},
	} {
		for _, hangs := range map[string]handler{"hangs": hangs, "is slow to fail": after(4*time.Second, raw(503, ""))} {
			for _, patience := range []time.Duration{100 * time.Millisecond, 5 * time.Second, 20 * time.Second} {
				inBubble(t, name+", "+patience.String(), func(t *testing.T) {
					known := 10
					if name != "stale" {
						known = 0
					}
					client, _ := withOutage(t, known, hangs, opts...)
					for n := range 10 {
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						var resp fiscope.Response
						require.NoError(t, consultar(ctx, client, n, fiscope.WithResponse(&resp)))
						assert.NoError(t, ctx.Err())
						assert.True(t, standIn(resp))
						cancel()
						require.ErrorIs(t, consultar(ctx, client, n), context.Canceled, "who has left gets nothing")
					}
				})
			}
		}
	}
}

func TestInAnOutageNoKnownCustomerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		client, s := withOutage(t, 30, hangs, w.options()...)
		for n := range 3 {
			require.NoError(t, consultar(t.Context(), client, n))
		}
		before, begun := client.Stats(), s.asked.Load()
		start := time.Now()
		for n := range 30 {
			var resp fiscope.Response
			require.NoError(t, consultar(t.Context(), client, n, fiscope.WithResponse(&resp)))
			assert.Equal(t, fiscope.SourceStale, resp.Source)
		}
		assert.Zero(t, time.Since(start))
		stats := client.Stats()
		assert.EqualValues(t, 30, stats.Avoided[fiscope.AvoidedOutage]-before.Avoided[fiscope.AvoidedOutage])
		assert.Equal(t, before.Sent, stats.Sent)
		_, records := w.seen()
		assert.Equal(t, "fiscope: answered with a stale answer", records[len(records)-1].message)

		for n := range 60 { // one a second
			time.Sleep(time.Second)
			require.NoError(t, consultar(t.Context(), client, n%30))
		}
		assert.LessOrEqual(t, s.asked.Load()-begun, int64(13), "one in 5 seconds is asked in the background")
		assert.GreaterOrEqual(t, s.asked.Load()-begun, int64(6))
	})
}

// A Respaldo that hangs holds a call for seconds, and no longer than its context. Close waits for it.
func TestARespaldoThatHangs(t *testing.T) {
	for name, heeds := range map[string]bool{"and heeds its context": true, "and heeds nothing": false} {
		for by, shared := range alone {
			inBubble(t, name+", "+by, func(t *testing.T) {
				var w watch
				start := time.Now()
				client := newClient(t, raw(503, ""), append(append(w.options(), shared...), fiscope.WithMaxRetries(0), fiscope.WithRespaldo(registro(
					func(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
						if !heeds {
							time.Sleep(time.Minute)
						}
						<-ctx.Done()
						c := archived(ruc)
						return &c, jueves, ctx.Err()
					})))...)
				for n, patience := range []time.Duration{2 * time.Second, time.Hour, time.Hour, time.Hour} { // the last of them in an outage
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					begun := time.Now()
					err := consultar(ctx, client, n)
					require.ErrorContains(t, err, "HTTP 503")
					assert.LessOrEqual(t, time.Since(begun), min(patience, 10*time.Second))
					cancel()
				}
				require.NoError(t, client.Close(t.Context()))
				if !heeds {
					assert.LessOrEqual(t, time.Since(start), 90*time.Second)
				}
				_, records := w.seen()
				for _, r := range records {
					assert.NotContains(t, r.message, "Respaldo", "it is no fault of the Respaldo's")
				}
			})
		}
	}
}

// A process that has just started has its stale answers in the Store alone.
func TestAStaleAnswerOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		s := newMemoryStore()
		_, service := withOutage(t, 30, hangs, fiscope.WithStore(s))
		policy := fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour})
		client := withStore(t, s, service, policy, fiscope.WithMaxRetries(0))
		start := time.Now()
		for n := range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			var resp fiscope.Response
			require.NoError(t, consultar(ctx, client, n, fiscope.WithResponse(&resp)))
			assert.Equal(t, fiscope.SourceStale, resp.Source)
			cancel()
		}
		assert.Less(t, time.Since(start), 3*3*time.Second, "after three failures nobody waits")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, consultar(ctx, withStore(t, s, after(time.Second-1, ofItsRUC), fiscope.WithCache(fiscope.CachePolicy{})), 31), "it has all of its time")
		synctest.Wait()
		var resp fiscope.Response
		respaldo := fiscope.WithRespaldo(padronDelJueves(&asked))
		require.NoError(t, consultar(t.Context(), client, 31, fiscope.WithResponse(&resp), respaldo))
		assert.Equal(t, fiscope.SourceCache, resp.Source, "another process has just asked")
		assert.Zero(t, asked.Load(), "the Respaldo")
	})
}

// A call that asks the service anew learns that the taxpayer is gone, while another one still waits.
func TestANotFoundIsNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, after(2*time.Second, raw(503, "")), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}))
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable) })
		synctest.Wait()
		s.become(raw(404, contract(t, "consultar_404.json")))
		require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()), fiscope.ErrNotFound)
		wg.Wait()
	})
}

// standIn reports whether a fallback answered.
func standIn(r fiscope.Response) bool {
	return r.Source == fiscope.SourceStale || r.Source == fiscope.SourceRespaldo
}
