package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func cached(t testing.TB, p fiscope.CachePolicy, raw ...func(*http.Request) (*http.Response, error)) (*fiscope.Client, *service) {
	t.Helper()
	s := &service{answers: raw}
	return newClient(t, s, fiscope.WithCache(p), fiscope.WithRetry(noRetries())), s
}

// fileOf is the answer that each operation expects.
var fileOf = map[string]string{
	"consultar": "consultar_200.json", "buscar": "buscar_200.json", "validar": "validar_200_aceptado.json",
	"tipocambio": "tipocambio_200.json", "hoy": "tipocambio_200.json",
}

func TestTheSameQuestionIsPaidOnce(t *testing.T) {
	for _, op := range []string{"consultar", "buscar", "tipocambio"} {
		t.Run(op, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, raw(200, contract(t, fileOf[op])))
			for range 5 {
				require.NoError(t, operations[op](t.Context(), client))
			}
			assert.Len(t, s.seen(), 1)
			assert.EqualValues(t, 4, client.Stats().Avoided[fiscope.AvoidedCached])
			assert.EqualValues(t, 5, client.Stats().Calls)
		})
	}
}

func TestAValidationIsNeverKept(t *testing.T) {
	client, s := cached(t, fiscope.CachePolicy{}, raw(200, contract(t, "validar_200_aceptado.json")))
	for range 3 {
		require.NoError(t, operations["validar"](t.Context(), client))
	}
	assert.Len(t, s.seen(), 3)
}

func TestAnErrorIsNotKept(t *testing.T) {
	notFound := contract(t, "consultar_404.json")
	for name, failure := range map[string]func(*http.Request) (*http.Response, error){
		"500": raw(500, ""), "401": raw(401, ""), "429": raw(429, ""), "400": raw(400, ""), "malformed": raw(200, "null"),
		"another 404": raw(404, "<html>"), "no answer": broken(errors.New("x")),
		"NOT_FOUND with 302": raw(302, notFound), "NOT_FOUND with 400": raw(400, notFound), "NOT_FOUND with 401": raw(401, notFound),
		"NOT_FOUND with 403": raw(403, notFound), "NOT_FOUND with 410": raw(410, notFound), "NOT_FOUND with 429": raw(429, notFound),
		"NOT_FOUND with 500": raw(500, notFound), "NOT_FOUND with 503": raw(503, notFound), "NOT_FOUND with 201": raw(201, notFound),
		"NOT_FOUND that broke off": with(404, &body{text: io.MultiReader(strings.NewReader(notFound), errReader{io.ErrUnexpectedEOF})}),
	} {
		t.Run(name, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, failure, raw(200, contract(t, "consultar_200.json")))
			require.Error(t, operations["consultar"](t.Context(), client))
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.Len(t, s.seen(), 2)
		})
	}
}

func TestAnAnswerFromTheCacheSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := cached(t, fiscope.CachePolicy{}, raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Remaining: 7"))
		var first, second fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&first)))
		time.Sleep(time.Hour)
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&second)))
		assert.False(t, first.FromCache)
		assert.Equal(t, 7, first.RateLimit.Remaining)
		assert.True(t, second.FromCache)
		assert.False(t, second.Stale)
		assert.Equal(t, time.Hour, second.Age)
		assert.Equal(t, 200, second.StatusCode)
		assert.Nil(t, second.RateLimit, "an old quota is no news")
		assert.Equal(t, first.Warnings, second.Warnings)
		assert.Len(t, second.Warnings, 1)
	})
}

func TestAKeptNotFoundIsAnErrorOfItsOwn(t *testing.T) {
	for _, status := range []int{404, 200} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, raw(status, contract(t, "consultar_404.json")))
			first := operations["consultar"](t.Context(), client)
			var resp fiscope.Response
			second := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
			assert.Len(t, s.seen(), 1)
			assert.True(t, resp.FromCache)
			assert.NotSame(t, first, second)
			var e *fiscope.Error
			require.ErrorAs(t, second, &e)
			require.ErrorIs(t, second, fiscope.ErrNotFound)
			assert.Equal(t, status, e.StatusCode)
			assert.Equal(t, status, resp.StatusCode)
			assert.Equal(t, fiscope.CodeNotFound, e.Code)
			assert.NotEmpty(t, e.Message)
			assert.Equal(t, contract(t, "consultar_404.json"), string(e.Body()))
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Zero(t, e.Attempts)
		})
	}
}

func TestEachCallerHasItsOwnCopy(t *testing.T) {
	client, _ := cached(t, fiscope.CachePolicy{}, raw(200, contract(t, "consultar_200.json")))
	first, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	first.RazonSocial = "OTRA"
	for range 2 { // neither the one who asked first nor one who was served changes what the next is served
		next, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
		require.NoError(t, err)
		assert.NotEqual(t, "OTRA", next.RazonSocial)
		next.RazonSocial = "OTRA"
	}

	client, _ = cached(t, fiscope.CachePolicy{}, raw(200, contract(t, "buscar_200.json")))
	rs, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "peru"})
	require.NoError(t, err)
	rs[0].RazonSocial = "OTRA"
	for range 2 {
		rs, err = client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: " peru "})
		require.NoError(t, err)
		assert.NotEqual(t, "OTRA", rs[0].RazonSocial)
		rs[0].RazonSocial = "OTRA"
	}

	client, _ = cached(t, fiscope.CachePolicy{}, raw(200, price))
	for range 3 {
		tc, err := client.TipoCambio.Consultar(t.Context(), viernes)
		require.NoError(t, err)
		assert.Equal(t, "USD", tc.Moneda)
		tc.Moneda = "OTRA"
	}

	client, s := cached(t, fiscope.CachePolicy{}, raw(200, "[]"))
	for range 2 {
		rs, err = client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "peru"})
		require.NoError(t, err)
		assert.NotNil(t, rs)
	}
	assert.Len(t, s.seen(), 1)
}

func TestQuestionsThatDifferAreDifferent(t *testing.T) {
	client, s := cached(t, fiscope.CachePolicy{}, raw(200, "[]"))
	for _, b := range []fiscope.Busqueda{{RazonSocial: "peru"}, {RazonSocial: "peru", Limite: 10}, {RazonSocial: "perú"}} {
		_, err := client.Contribuyentes.Buscar(t.Context(), b)
		require.NoError(t, err)
	}
	assert.Len(t, s.seen(), 3)
}

// edge is the end of a lifetime.
type edge struct {
	op      string
	status  int
	asked   string // when the answer was kept, in Lima
	serves  string // the last instant at which it serves
	fecha   string // of the question; "" for none
	forGood bool
}

func TestLifetimesAtTheirEdges(t *testing.T) {
	for name, test := range map[string]edge{
		"a taxpayer, 12 hours":                     {op: "consultar", status: 200, asked: "2026-11-20 08:00:00", serves: "2026-11-20 19:59:59"},
		"no taxpayer, 1 hour":                      {op: "consultar", status: 404, asked: "2026-11-20 08:00:00", serves: "2026-11-20 08:59:59"},
		"a search, 1 hour":                         {op: "buscar", status: 200, asked: "2026-11-20 08:00:00", serves: "2026-11-20 08:59:59"},
		"a past rate, for good":                    {op: "tipocambio", status: 200, fecha: "2026-11-19", asked: "2026-11-20 08:00:00", forGood: true},
		"today's rate, until midnight":             {op: "tipocambio", status: 200, fecha: "2026-11-20", asked: "2026-11-20 18:00:00", serves: "2026-11-20 23:59:59"},
		"no rate yet, until 17:00":                 {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-20 09:00:00", serves: "2026-11-20 16:59:59"},
		"no rate just before 17:00":                {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-20 16:59:59", serves: "2026-11-20 16:59:59"},
		"no rate at 17:00, 15 minutes":             {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-20 17:00:00", serves: "2026-11-20 17:14:59"},
		"no rate in the future":                    {op: "tipocambio", status: 404, fecha: "2026-11-24", asked: "2026-11-20 17:00:00", serves: "2026-11-24 16:59:59"},
		"no rate for 10 days, 15 minutes":          {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-30 16:59:59", serves: "2026-11-30 17:14:58"},
		"no rate after 10 days, a day":             {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-30 17:00:00", serves: "2026-12-01 16:59:59"},
		"no rate on a Saturday, for good":          {op: "tipocambio", status: 404, fecha: "2026-11-21", asked: "2026-11-20 08:00:00", forGood: true},
		"no rate on a holiday, for good":           {op: "tipocambio", status: 404, fecha: "2026-12-08", asked: "2026-12-08 08:00:00", forGood: true},
		"the rate of today, until midnight":        {op: "hoy", status: 200, asked: "2026-11-20 18:00:00", serves: "2026-11-20 23:59:59"},
		"no rate of today yet, until 17:00":        {op: "hoy", status: 404, asked: "2026-11-20 09:00:00", serves: "2026-11-20 16:59:59"},
		"today is another day after midnight":      {op: "hoy", status: 404, asked: "2026-11-21 09:00:00", serves: "2026-11-21 23:59:59"},
		"today of another day is not kept for Hoy": {op: "hoy", status: 200, asked: "2026-11-23 18:00:00", serves: ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				until := func(text string) {
					at, err := time.ParseInLocation(time.DateTime, text, fiscope.Lima)
					require.NoError(t, err)
					time.Sleep(time.Until(at))
				}
				until(test.asked)
				fecha := viernes
				body := contract(t, fileOf[test.op])
				if test.fecha != "" {
					var err error
					fecha, err = fiscope.ParseFecha(test.fecha)
					require.NoError(t, err)
					body = change(body, "2026-11-20", test.fecha)
				}
				if test.status == 404 {
					body = contract(t, "tipocambio_404.json")
				}
				client, s := cached(t, fiscope.CachePolicy{}, raw(test.status, body))
				ask := func() {
					var err error
					if test.op == "tipocambio" {
						_, err = client.TipoCambio.Consultar(t.Context(), fecha)
					} else {
						err = operations[test.op](t.Context(), client)
					}
					assert.Equal(t, test.status == 404, errors.Is(err, fiscope.ErrNotFound))
				}
				ask()
				switch {
				case test.forGood:
					time.Sleep(5 * 365 * 24 * time.Hour)
					ask()
					assert.Len(t, s.seen(), 1)
				case test.serves == "":
					ask()
					assert.Len(t, s.seen(), 2)
				default:
					until(test.serves)
					ask()
					assert.Len(t, s.seen(), 1, "it still serves at %s", test.serves)
					time.Sleep(time.Second)
					ask()
					assert.Len(t, s.seen(), 2, "and not a second later")
				}
			})
		})
	}
}

func TestAFullCacheKeepsWhatWasHit(t *testing.T) {
	for name, test := range map[string]struct{ asked, kept, gone string }{
		"the oldest goes":                         {"a b c d", "b c d", "a"},
		"one that was hit stays":                  {"a b c a d", "a c d", "b"},
		"... once, unless it is hit again":        {"a b c a d e f", "d e f", "a"},
		"... and as often as it is":               {"a b c a d a e a f", "a e f", "d"},
		"of all that were hit the oldest goes":    {"a b c c b a d", "b c d", "a"},
		"what was hit while there was room stays": {"a a b c d", "a c d", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{Entries: 3}, raw(200, "[]"))
			ask := func(text string) (spent bool) {
				before := len(s.seen())
				_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "texto " + text})
				require.NoError(t, err)
				return len(s.seen()) > before
			}
			for _, text := range strings.Fields(test.asked) {
				ask(text)
			}
			for _, text := range strings.Fields(test.kept) {
				assert.False(t, ask(text), "%s is kept", text)
			}
			assert.True(t, ask(test.gone), "%s is not kept", test.gone)
		})
	}
}

func TestAPolicyIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{Consulta: time.Minute, Busqueda: -1}, raw(200, contract(t, "consultar_200.json")))
		require.NoError(t, operations["consultar"](t.Context(), client))
		time.Sleep(time.Minute)
		require.NoError(t, operations["consultar"](t.Context(), client))
		assert.Len(t, s.seen(), 2)

		client, s = cached(t, fiscope.CachePolicy{Busqueda: -1}, raw(200, "[]"))
		require.NoError(t, operations["buscar"](t.Context(), client))
		require.NoError(t, operations["buscar"](t.Context(), client))
		assert.Len(t, s.seen(), 2)

		client, s = cached(t, fiscope.CachePolicy{Entries: 1}, raw(200, "[]"))
		for _, text := range []string{"uno", "dos", "uno"} {
			_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: text})
			require.NoError(t, err)
		}
		assert.Len(t, s.seen(), 3, "the cache is bounded")
	})
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithCache(fiscope.CachePolicy{Entries: -1}))
	require.Error(t, err)
}

func TestWithoutCacheAsksAndKeeps(t *testing.T) {
	client, s := cached(t, fiscope.CachePolicy{}, raw(200, record), raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA")))
	require.NoError(t, operations["consultar"](t.Context(), client))
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithoutCache())
	require.NoError(t, err)
	assert.True(t, c.Estado.Baja())
	c, err = client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	assert.True(t, c.Estado.Baja(), "what was fresh is kept for the next")
	assert.Len(t, s.seen(), 2)
}

func TestAContradictionThatWasLetPassIsNotKept(t *testing.T) {
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, change(record, "20131312955", rucEmisor)), raw(200, record)}}
	client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithLenientReading())
	require.NoError(t, operations["consultar"](t.Context(), client))
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	assert.Equal(t, rucSUNAT, c.RUC)
}

func TestStaleRatherThanNothing(t *testing.T) {
	ok := raw(200, contract(t, "consultar_200.json"))
	for name, test := range map[string]struct {
		failure func(*http.Request) (*http.Response, error)
		policy  fiscope.CachePolicy
		after   time.Duration
		stale   bool
	}{
		"unavailable":      {raw(503, ""), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, true},
		"no connection":    {broken(errors.New("x")), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, true},
		"quota spent":      {raw(429, ""), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, true},
		"too old":          {raw(503, ""), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 36 * time.Hour, false},
		"not asked for":    {raw(503, ""), fiscope.CachePolicy{}, 20 * time.Hour, false},
		"another error":    {raw(401, ""), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, false},
		"it is gone":       {raw(404, contract(t, "consultar_404.json")), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, false},
		"not the contract": {raw(200, "null"), fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, 20 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := cached(t, test.policy, ok, test.failure)
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(test.after)
				var resp fiscope.Response
				err := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
				assert.Equal(t, test.stale, err == nil, err)
				assert.Equal(t, test.stale, resp.Stale)
				assert.Equal(t, test.stale, resp.FromCache)
				if !test.stale {
					return
				}
				assert.Equal(t, test.after, resp.Age)
				assert.Len(t, s.seen(), 2)
				require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
				assert.True(t, resp.Stale)
				assert.Len(t, s.seen(), 2, "an outage does not make every call wait")
				time.Sleep(30 * time.Second)
				require.NoError(t, operations["consultar"](t.Context(), client))
				assert.Len(t, s.seen(), 3, "but it is tried again")
			})
		})
	}
}

func TestWhoAsksWithoutTheCacheIsServedNothingStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, raw(200, record), raw(503, ""))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()), fiscope.ErrUnavailable, "it serves, but not him")
		time.Sleep(13 * time.Hour)
		var resp fiscope.Response
		require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache(), fiscope.WithResponse(&resp)), fiscope.ErrUnavailable)
		assert.False(t, resp.Stale)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Len(t, s.seen(), 3)
	})
}

func TestAStaleAnswerEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := cached(t, fiscope.CachePolicy{Consulta: time.Hour, StaleIfError: time.Minute}, raw(200, record), raw(503, ""))
		require.NoError(t, operations["consultar"](t.Context(), client))
		time.Sleep(time.Hour + 50*time.Second)
		require.NoError(t, operations["consultar"](t.Context(), client))
		time.Sleep(10 * time.Second)
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
	})
}

func TestTheSameQuestionAtTheSameTimeIsOneQuery(t *testing.T) {
	for name, opt := range map[string]fiscope.Option{"coalescing": fiscope.WithCoalescing(), "cache": fiscope.WithCache(fiscope.CachePolicy{})} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(200, record))}}
				client := newClient(t, s, opt)
				var wg sync.WaitGroup
				var coalesced atomic.Int64
				results := make([]*fiscope.Contribuyente, 100)
				for i := range results {
					wg.Go(func() {
						var resp fiscope.Response
						c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
						assert.NoError(t, err)
						assert.Equal(t, time.Second, resp.Duration)
						assert.False(t, resp.FromCache)
						if resp.Coalesced {
							coalesced.Add(1)
						}
						results[i] = c
					})
				}
				wg.Wait()
				assert.Len(t, s.seen(), 1)
				assert.EqualValues(t, 99, coalesced.Load())
				assert.EqualValues(t, 99, client.Stats().Avoided[fiscope.AvoidedCoalesced])
				assert.EqualValues(t, 100, client.Stats().Calls)
				for i := range results[1:] {
					assert.NotSame(t, results[i], results[i+1])
					assert.Empty(t, cmp.Diff(results[i], results[i+1]))
				}
			})
		})
	}
}

func TestAFailureIsSharedAndCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(500, ""))}}
		client := newClient(t, s, fiscope.WithCoalescing(), fiscope.WithRetry(noRetries()))
		errs := make(chan error, 10)
		for range cap(errs) {
			go func() { errs <- operations["consultar"](t.Context(), client) }()
		}
		seen := map[*fiscope.Error]bool{}
		for range cap(errs) {
			var e *fiscope.Error
			err := <-errs
			require.ErrorIs(t, err, fiscope.ErrUnavailable)
			require.ErrorAs(t, err, &e)
			seen[e] = true
		}
		assert.Len(t, seen, 10)
		assert.Len(t, s.seen(), 1)
	})
}

func TestACallerThatGivesUpLeavesTheOthersAlone(t *testing.T) {
	for name, opt := range map[string]fiscope.Option{"coalescing": fiscope.WithCoalescing(), "cache": fiscope.WithCache(fiscope.CachePolicy{})} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(200, record))}}
				client := newClient(t, s, opt)
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				wg.Go(func() { // the one whose query it is
					start := time.Now()
					err := operations["consultar"](ctx, client)
					assert.ErrorIs(t, err, context.Canceled)
					assert.Less(t, time.Since(start), time.Second, "it leaves at once")
				})
				synctest.Wait()
				for range 3 {
					wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
				}
				time.Sleep(500 * time.Millisecond)
				cancel()
				wg.Wait()
				assert.Len(t, s.seen(), 1)
			})
		})
	}
}

func TestWhenTheLastCallerLeaves(t *testing.T) {
	t.Run("without a cache the query is abandoned", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended atomic.Bool
			s := &service{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				ended.Store(true)
				time.Sleep(time.Second) // it takes its time to notice
				return nil, r.Context().Err()
			}, raw(200, record)}}
			client := newClient(t, s, fiscope.WithCoalescing())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
			require.NoError(t, operations["consultar"](t.Context(), client), "the next one does not join a dead flight")
			synctest.Wait()
			assert.True(t, ended.Load())
			time.Sleep(time.Second)
		})
	})
	t.Run("with a cache the answer is brought home", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, slowly(raw(200, record)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
			time.Sleep(time.Second)
			var resp fiscope.Response
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			assert.True(t, resp.FromCache)
			assert.Len(t, s.seen(), 1)
		})
	})
	t.Run("a flight is bounded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := cached(t, fiscope.CachePolicy{}, hangs)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.Error(t, operations["consultar"](ctx, client))
			time.Sleep(time.Hour) // or the bubble complains of a goroutine
		})
	})
}

// The service's today may be another day than ours: its answer must not pass for that of our date.
func TestTodayIsAnotherQuestionThanItsDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 1999-12-31 in Lima
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.RawQuery == "" {
				return slowly(raw(200, change(price, "2026-11-20", "1999-12-30")))(r)
			}
			return slowly(raw(200, change(price, "2026-11-20", "1999-12-31")))(r)
		}), fiscope.WithCache(fiscope.CachePolicy{}))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, operations["hoy"](t.Context(), client)) })
		synctest.Wait()
		hoy := fiscope.HoyEnLima()
		tc, err := client.TipoCambio.Consultar(t.Context(), hoy)
		require.NoError(t, err)
		assert.Equal(t, hoy, tc.Fecha)
		wg.Wait()
	})
}

func TestValidationsAreNotCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(200, verdict))}}
		client := newClient(t, s, fiscope.WithCoalescing())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { assert.NoError(t, operations["validar"](t.Context(), client)) })
		}
		wg.Wait()
		assert.Len(t, s.seen(), 3)
	})
}

func TestARefusalIsNotSharedWithWhoMayUseTheReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{t: t, reset: inAnHour}
		m.left.Store(6)
		store := newFleetStore()
		store.slow = time.Second // so that the two are under way together
		client := newClient(t, m, fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}), fiscope.WithStore(store), fiscope.WithQuotaReserve(5))
		require.NoError(t, operations["consultar"](t.Context(), client))
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded) })
		synctest.Wait()
		wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(0))) })
		wg.Wait()
	})
}

func TestAKeptNotFoundDoesNotServeStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := cached(t, fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, raw(404, contract(t, "consultar_404.json")), raw(503, ""))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrNotFound)
		time.Sleep(2 * time.Hour)
		err := operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrUnavailable, "who was not registered may be by now")
		require.NotErrorIs(t, err, fiscope.ErrNotFound)
	})
}

func TestInputIsCheckedWithACacheToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{}, raw(200, record))
		_, err := client.Contribuyentes.Consultar(t.Context(), "x")
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
		require.ErrorIs(t, operations["consultar"](t.Context(), client, nil), fiscope.ErrInvalidRequest)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			require.ErrorIs(t, operations["consultar"](ctx, client), context.Canceled)
		}
		synctest.Wait()
		assert.Empty(t, s.seen(), "no flight starts for a caller that has gone")

		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, operations["consultar"](t.Context(), client, nil), fiscope.ErrInvalidRequest, "also where the cache could answer")
	})
}

func TestAnOlderAnswerDoesNotReplaceANewerOne(t *testing.T) {
	gone := raw(404, contract(t, "consultar_404.json"))
	older, newer := raw(200, record), raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA"))
	fresh, apart := fiscope.WithoutCache(), fiscope.WithQuotaReserve(1) // which shares no query with the others
	for name, test := range map[string]struct {
		first, second         func(*http.Request) (*http.Response, error) // the answers, of which the first comes later
		firstOpts, secondOpts []fiscope.CallOption
		want                  error // of the next call; nil for the newer record
	}{
		"both fresh":                   {older, newer, []fiscope.CallOption{fresh}, []fiscope.CallOption{fresh, apart}, nil},
		"a fresh one is older":         {older, newer, []fiscope.CallOption{fresh}, nil, nil},
		"a fresh one is newer":         {older, newer, nil, []fiscope.CallOption{fresh}, nil},
		"there is none by now":         {older, gone, nil, []fiscope.CallOption{fresh}, fiscope.ErrNotFound},
		"there is one by now":          {gone, newer, nil, []fiscope.CallOption{fresh}, nil},
		"the older one is no answer":   {raw(503, ""), newer, nil, []fiscope.CallOption{fresh}, nil},
		"no answer, and there is none": {raw(503, ""), gone, nil, []fiscope.CallOption{fresh}, fiscope.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := cached(t, fiscope.CachePolicy{StaleIfError: 24 * time.Hour}, raw(200, record), after(5*time.Second, test.first), test.second, raw(500, ""))
				require.NoError(t, operations["consultar"](t.Context(), client))
				time.Sleep(13 * time.Hour) // it expires
				var wg sync.WaitGroup
				wg.Go(func() { _ = operations["consultar"](t.Context(), client, test.firstOpts...) })
				time.Sleep(time.Second)
				_ = operations["consultar"](t.Context(), client, test.secondOpts...)
				wg.Wait()
				require.Len(t, s.seen(), 3)
				var resp fiscope.Response
				c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
				assert.True(t, resp.FromCache)
				assert.False(t, resp.Stale)
				if test.want != nil {
					require.ErrorIs(t, err, test.want)
					return
				}
				require.NoError(t, err)
				assert.True(t, c.Estado.Baja())
			})
		})
	}
}

// slowSettle is a store that takes its time to be told what came of an attempt.
type slowSettle struct{ *fleetStore }

func (s slowSettle) Settle(ctx context.Context, account string, r fiscope.Reservation, o fiscope.Outcome) error {
	time.Sleep(900 * time.Millisecond)
	return s.fleetStore.Settle(ctx, account, r, o)
}

// An answer is as old as its request, whatever is told of it before it is kept.
func TestAnOlderAnswerThatIsKeptLateIsNoNewerOne(t *testing.T) {
	for name, opts := range map[string]func(*atomic.Int64) []fiscope.Option{
		"an observer takes its time": func(n *atomic.Int64) []fiscope.Option {
			return []fiscope.Option{fiscope.WithObserver(func(fiscope.Event) {
				if n.Load() == 1 {
					time.Sleep(10 * time.Second)
				}
			})}
		},
		"the Store takes its time": func(*atomic.Int64) []fiscope.Option {
			return []fiscope.Option{fiscope.WithStore(slowSettle{newFleetStore()})}
		},
		"its body takes its time": func(*atomic.Int64) []fiscope.Option { return nil },
	} {
		for what, older := range map[string]func(*http.Request) (*http.Response, error){
			"a record": raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA")), "that there is none": raw(404, contract(t, "consultar_404.json")),
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var n atomic.Int64
					client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
						if n.Add(1) == 1 {
							resp, err := older(r)
							if name == "its body takes its time" {
								resp.Body = &body{text: strings.NewReader(map[string]string{"a record": change(record, "ACTIVO", "BAJA DEFINITIVA")}[what]), read: func() error { time.Sleep(2 * time.Second); return nil }}
							}
							return resp, err
						}
						return raw(200, record)(r)
					}), append(opts(&n), fiscope.WithCache(fiscope.CachePolicy{}))...)
					var wg sync.WaitGroup
					wg.Go(func() { _ = operations["consultar"](t.Context(), client) })
					time.Sleep(10 * time.Millisecond)
					require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()))
					wg.Wait()
					c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
					require.NoError(t, err)
					assert.True(t, c.Estado.Activo())
					assert.EqualValues(t, 2, n.Load())
				})
			})
		}
	}
}

// The one whose query fails gets what another's brought meanwhile, which is not stale.
func TestWhoIsRefusedGetsWhatCameMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := cached(t, fiscope.CachePolicy{}, after(5*time.Second, raw(503, "")), raw(200, record))
		var wg sync.WaitGroup
		wg.Go(func() {
			var resp fiscope.Response
			assert.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			assert.True(t, resp.FromCache)
			assert.False(t, resp.Stale)
		})
		time.Sleep(time.Second)
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()))
		wg.Wait()
	})
}

func TestOneOptionServesTwoClients(t *testing.T) {
	for name, opt := range map[string]fiscope.Option{
		"cache": fiscope.WithCache(fiscope.CachePolicy{}), "coalescing": fiscope.WithCoalescing(), "retry": fiscope.WithRetry(noRetries()),
		"limit": fiscope.WithRateLimit(1000, 1000), "reserve": fiscope.WithQuotaReserve(1),
	} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					client, err := fiscope.NewClient(baseURL, apiKey, opt, fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(raw(200, record))}))
					if assert.NoError(t, err) {
						assert.NoError(t, operations["consultar"](t.Context(), client))
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestWithoutCacheJoinsNoCachedQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		s := &service{answers: []func(*http.Request) (*http.Response, error){after(5*time.Second, raw(200, record))}}
		client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
		var wg sync.WaitGroup
		for _, opts := range [][]fiscope.CallOption{nil, {fiscope.WithoutCache()}, nil, {fiscope.WithoutCache()}} {
			wg.Go(func() {
				var resp fiscope.Response
				assert.NoError(t, operations["consultar"](t.Context(), client, append(opts, fiscope.WithResponse(&resp))...))
				assert.False(t, resp.FromCache)
			})
			synctest.Wait()
		}
		wg.Wait()
		assert.Len(t, s.seen(), 2, "those without the cache share one, and the others another")

		synctest.Wait() // it is saved
		loads := store.loads.Load()
		s.answers = []func(*http.Request) (*http.Response, error){raw(503, "")}
		require.ErrorIs(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}), fiscope.WithStore(store), fiscope.WithRetry(noRetries())), fiscope.WithoutCache()), fiscope.ErrUnavailable)
		assert.Equal(t, loads, store.loads.Load(), "no store is asked")
	})
}

func TestWhatIsKeptForGoodIsNeverStale(t *testing.T) {
	const forever = time.Duration(math.MaxInt64)
	for op, asked := range map[string]func(context.Context, *fiscope.Client, ...fiscope.CallOption) error{
		"a past rate": func(ctx context.Context, c *fiscope.Client, opts ...fiscope.CallOption) error {
			_, err := c.TipoCambio.Consultar(ctx, viernes, opts...)
			return err
		},
		"a taxpayer, for ever": operations["consultar"],
	} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(fiscope.NewFecha(2026, time.December, 20).En(fiscope.Lima)))
				body := record
				if op == "a past rate" {
					body = price
				}
				store := newFleetStore()
				policy := fiscope.WithCache(fiscope.CachePolicy{Consulta: forever, StaleIfError: forever})
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, body), raw(503, "")}}
				client := newClient(t, s, policy, fiscope.WithStore(store))
				require.NoError(t, asked(t.Context(), client))
				for range 3 {
					time.Sleep(300 * 24 * time.Hour)
					for _, c := range []*fiscope.Client{client, newClient(t, s, policy, fiscope.WithStore(store))} {
						var resp fiscope.Response
						require.NoError(t, asked(t.Context(), c, fiscope.WithResponse(&resp)))
						assert.True(t, resp.FromCache)
						assert.False(t, resp.Stale)
					}
				}
			})
		})
	}
}

func TestAnInputThatBreaksARuleWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		store.slow = time.Hour
		client := newClient(t, roundTripper(hangs), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store), fiscope.WithStrictRUC())
		for name, ask := range map[string]func() error{
			"RUC":        func() error { _, err := client.Contribuyentes.Consultar(t.Context(), "x"); return err },
			"strict RUC": func() error { _, err := client.Contribuyentes.Consultar(t.Context(), "20131312954"); return err },
			"search": func() error {
				_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "x"})
				return err
			},
			"limit": func() error {
				_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "peru", Limite: 51})
				return err
			},
			"date":    func() error { _, err := client.TipoCambio.Consultar(t.Context(), fiscope.Fecha{}); return err },
			"option":  func() error { return operations["consultar"](t.Context(), client, fiscope.WithQuotaReserve(-1)) },
			"context": func() error { return operations["consultar"](nil, client) },
		} {
			start := time.Now()
			require.ErrorIs(t, ask(), fiscope.ErrInvalidRequest, name)
			assert.Zero(t, time.Since(start), name)
		}
		synctest.Wait()
		assert.Zero(t, store.loads.Load())
		assert.EqualValues(t, 7, client.Stats().Avoided[fiscope.AvoidedInvalid])
	})
}

// Who cannot wait for the next try gets what would serve if it failed.
func TestStaleRatherThanAWaitBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retry := fiscope.DefaultRetryPolicy()
		retry.MaxRetryAfter = time.Hour
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record), raw(503, "", "Retry-After: 60"), raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA"))}}
		client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour}), fiscope.WithRetry(retry))
		require.NoError(t, operations["consultar"](t.Context(), client))
		time.Sleep(20 * time.Hour)
		var wg sync.WaitGroup
		wg.Go(func() {
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			if assert.NoError(t, err) {
				assert.True(t, c.Estado.Baja(), "who has time gets the new answer")
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](ctx, client, fiscope.WithResponse(&resp)))
		assert.Zero(t, time.Since(start))
		assert.True(t, resp.Stale)
		wg.Wait()
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
		assert.False(t, resp.Stale)
	})
}
