package fiscope_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
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

func TestStaleIfTheServiceGaveNoUsableAnswer(t *testing.T) {
	day := fiscope.CachePolicy{StaleIfError: 24 * time.Hour}
	for name, test := range map[string]struct {
		failure handler
		policy  fiscope.CachePolicy
		after   time.Duration
		stale   bool
	}{
		"unavailable":      {raw(503, ""), day, 20 * time.Hour, true},
		"no connection":    {broken(errors.New("x")), day, 20 * time.Hour, true},
		"a broken body":    {with(200, &body{text: io.MultiReader(strings.NewReader(record), errReader{io.ErrUnexpectedEOF})}), day, 20 * time.Hour, true},
		"maintenance":      {raw(200, "<html>"), day, 20 * time.Hour, true},
		"... in JSON":      {raw(200, `{"success":false,"message":"En mantenimiento"}`), day, 20 * time.Hour, true},
		"no such route":    {raw(404, `{"message":"no Route matched"}`), day, 20 * time.Hour, true},
		"a redirect":       {raw(302, "", "Location: /mantenimiento"), day, 20 * time.Hour, true},
		"a firewall":       {raw(403, "<html>"), day, 20 * time.Hour, true},
		"quota spent":      {raw(429, ""), day, 20 * time.Hour, true},
		"too old":          {raw(503, ""), day, 36 * time.Hour, false},
		"not asked for":    {raw(503, ""), fiscope.CachePolicy{}, 20 * time.Hour, false},
		"another error":    {raw(401, ""), day, 20 * time.Hour, false},
		"it is gone":       {raw(404, contract(t, "consultar_404.json")), day, 20 * time.Hour, false},
		"not the contract": {raw(200, change(record, rucSUNAT, rucEmisor)), day, 20 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := cached(t, test.policy, raw(200, record), test.failure)
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(test.after)
				var resp fiscope.Response
				err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
				assert.Equal(t, test.stale, err == nil, err)
				assert.Equal(t, test.stale, resp.Source == fiscope.SourceStale)
				if test.stale {
					assert.Equal(t, test.after, time.Since(resp.AsOf))
				}
				require.Error(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()), "WithoutCache gets no cached answer")
			})
		})
	}
	t.Run("but no NOT_FOUND", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := cached(t, day, raw(404, contract(t, "consultar_404.json")), raw(503, ""))
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrNotFound)
			time.Sleep(2 * time.Hour)
			require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable, "the taxpayer may be registered by now")
		})
	})
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
				t.Run(name+", "+patience.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
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
						}
					})
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

func TestWhatEndsAnOutage(t *testing.T) {
	quick := func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	leaves := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}
	for name, test := range map[string]struct {
		answer handler // of a call that has nothing to fall back on
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		ends   bool
	}{
		"a result":            {ofItsRUC, quick, true},
		"a NOT_FOUND":         {raw(404, contract(t, "consultar_404.json")), quick, true},
		"a 400":               {raw(400, ""), quick, true},
		"a failure":           {raw(503, ""), quick, false},
		"a firewall":          {raw(403, "<html>"), quick, false},
		"a caller who leaves": {hangs, leaves, false},
		"a panic":             {func(*http.Request) (*http.Response, error) { panic("boom") }, quick, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := withOutage(t, 10, raw(503, ""))
				for n := range 4 { // after the last of which the background finds out that it goes on
					require.NoError(t, consultar(t.Context(), client, n))
					time.Sleep(5 * time.Second)
				}
				s.become(test.answer)
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				_ = consultar(ctx, client, 1000)
				s.become(ofItsRUC)
				var resp fiscope.Response
				require.NoError(t, consultar(t.Context(), client, 5, fiscope.WithResponse(&resp)))
				assert.Equal(t, test.ends, resp.Source != fiscope.SourceStale)
				synctest.Wait() // for the question in the background
				require.NoError(t, consultar(t.Context(), client, 6, fiscope.WithResponse(&resp)))
				assert.Equal(t, fiscope.SourceService, resp.Source, "its success ends it too")
			})
		})
	}
}

func TestAnOutageIsOfOneOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/api/tipocambio" {
				return raw(200, change(price, "2026-11-20", "1999-12-31"))(r)
			}
			return ofItsRUC(r)
		}, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 48 * time.Hour}))
		stale := func(op string) bool {
			var resp fiscope.Response
			require.NoError(t, operations[op](t.Context(), client, fiscope.WithResponse(&resp)))
			return resp.Source == fiscope.SourceStale
		}
		assert.False(t, stale("hoy"))
		assert.False(t, stale("consultar"))
		time.Sleep(23 * time.Hour)
		fine := *s.now.Load()
		s.become(raw(500, contract(t, "validar_500.json"))) // SUNAT is away
		for range 5 {
			require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrUnavailable)
		}
		s.become(fine)
		assert.False(t, stale("consultar"), "which asked SUNAT nothing")
		time.Sleep(13 * time.Hour)
		s.become(raw(503, ""))
		for range 5 {
			assert.True(t, stale("consultar"))
		}
		asked := s.asked.Load()
		_, err := client.TipoCambio.Consultar(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		assert.Equal(t, asked+1, s.asked.Load(), "rates have an outage of their own")
		require.ErrorIs(t, consultar(t.Context(), client, 1000), fiscope.ErrUnavailable)
		assert.Equal(t, asked+2, s.asked.Load(), "a caller without a fallback asks")
	})
}

// A Respaldo that hangs holds a call for seconds, and no longer than its context. Close waits for it.
func TestARespaldoThatHangs(t *testing.T) {
	for name, heeds := range map[string]bool{"and heeds its context": true, "and heeds nothing": false} {
		for by, shared := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					start := time.Now()
					client := newClient(t, roundTripper(raw(503, "")), append(append(w.options(), shared...), fiscope.WithMaxRetries(0), fiscope.WithRespaldo(registro(
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
			})
		}
	}
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
