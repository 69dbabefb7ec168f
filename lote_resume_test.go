package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

// ways are the roads that a lookup of a batch can take.
var ways = map[string]func() []fiscope.Option{
	"alone":     func() []fiscope.Option { return nil },
	"coalesced": func() []fiscope.Option { return []fiscope.Option{fiscope.WithCoalescing()} },
	"cached":    func() []fiscope.Option { return []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})} },
	"in a fleet": func() []fiscope.Option {
		return []fiscope.Option{fiscope.WithStore(newFleetStore()), fiscope.WithCache(fiscope.CachePolicy{})}
	},
}

// A job of cron has half a minute, and the limiter lets 2 queries a second go.
func TestWhatADeadlineLeavesUnsentIsNotDelivered(t *testing.T) {
	for name, opts := range ways {
		for _, concurrency := range []int{1, 8} {
			t.Run(fmt.Sprint(name, ", ", concurrency), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPadron(t)
					p.delay = func(string) time.Duration { return 700 * time.Millisecond }
					client := newClient(t, p, append(opts(), fiscope.WithRateLimit(2, 1))...)
					answered := map[int]bool{}
					for from, runs := 0, 0; ; runs++ {
						require.Less(t, runs, 20)
						ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
						lines, stopped := all(client.Contribuyentes.ConsultarLote(ctx, rucs(300), fiscope.LotePolicy{From: from, Concurrency: concurrency}))
						for _, l := range lines {
							require.NoError(t, l.err)
							answered[l.Posicion] = true
						}
						cancel()
						if stopped == nil {
							break
						}
						require.ErrorIs(t, stopped, context.DeadlineExceeded)
						assert.Equal(t, "deadline_exceeded", fiscope.ErrorClass(stopped))
						for position := range stopped.Posicion {
							require.True(t, answered[position], "%d was never asked", position)
						}
						from = stopped.Posicion
					}
					assert.Len(t, answered, 300)
				})
			})
		}
	}
	t.Run("a receipt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, roundTripper(raw(200, verdict)), fiscope.WithRateLimit(rate.Every(time.Second), 1))
			ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
			defer cancel()
			next, lines := 0, 0
			receipts := func(yield func(fiscope.Comprobante) bool) {
				for c := factura; yield(c); c.Numero++ {
				}
			}
			for l, err := range client.CPE.ValidarLote(ctx, receipts, credenciales, fiscope.LotePolicy{Concurrency: 1}) {
				if next = l.Siguiente; err == nil {
					lines++
					continue
				}
				var stopped *fiscope.LoteDetenido
				require.ErrorAs(t, err, &stopped)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			assert.Equal(t, 6, next)
			assert.Equal(t, 6, lines)
		})
	})
	t.Run("a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPadron(t)
			p.answer = func(r string, n int) (*http.Response, error) {
				if r == ruc(2) && n == 1 {
					return raw(503, "")(nil)
				}
				return nil, nil
			}
			client := newClient(t, p, fiscope.WithRateLimit(rate.Every(10*time.Second), 1))
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
			defer cancel()
			lines, stopped := all(client.Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{Concurrency: 1}))
			assert.Len(t, lines, 2)
			require.ErrorIs(t, stopped, context.DeadlineExceeded)
			assert.Equal(t, 2, stopped.Posicion)
		})
	})
}

// An attempt that runs out of its own time is a failure of the service, not the end of the batch.
func TestAnAttemptsTimeIsNotTheBatchsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r == ruc(3) {
				return time.Hour
			}
			return 0
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		lines, stopped := all(newClient(t, p, fiscope.WithRetry(noRetries())).Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{}))
		require.Nil(t, stopped)
		assert.Len(t, lines, 9)
	})
}

func TestTheFailuresInARowAreAskedAgain(t *testing.T) {
	for name, opts := range ways {
		for seed := range uint64(10) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 7))
					var mu sync.Mutex
					requests, down := 0, true
					p := newPadron(t)
					p.delay = func(string) time.Duration {
						mu.Lock()
						defer mu.Unlock()
						return time.Duration(random.IntN(1000)) * time.Millisecond
					}
					p.answer = func(string, int) (*http.Response, error) {
						mu.Lock()
						defer mu.Unlock()
						if requests++; requests > 300 && down {
							return raw(503, "")(nil)
						}
						return nil, nil
					}
					client := newClient(t, p, append(opts(), fiscope.WithRetry(noRetries()))...)
					policy := fiscope.LotePolicy{Concurrency: 1 + random.IntN(12)}
					first, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(1000), policy))
					require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
					last := first[len(first)-1]
					assert.Equal(t, last.Siguiente, stopped.Posicion)
					assert.GreaterOrEqual(t, stopped.Posicion, 300-2*policy.Concurrency, "what was answered is not asked again")
					mu.Lock()
					down = false
					mu.Unlock()
					policy.From = stopped.Posicion
					second, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(1000), policy))
					require.Nil(t, stopped)
					answered := map[int]bool{}
					for _, l := range slices.Concat(first, second) {
						answered[l.Posicion] = answered[l.Posicion] || l.err == nil
					}
					for position := range 1000 {
						require.True(t, answered[position], "%d has no answer", position)
					}
				})
			})
		}
	}
}

// Siguiente is where to go on at each line, for a program that is killed within an outage.
func TestEachLineOfAnOutageSaysWhereItBegan(t *testing.T) {
	p := newPadron(t)
	p.answer = func(r string, _ int) (*http.Response, error) {
		switch {
		case r == ruc(2), r >= ruc(5) && r <= ruc(7), r >= ruc(10):
			return raw(501, "")(nil)
		}
		return nil, nil
	}
	lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(20), fiscope.LotePolicy{Concurrency: 1, MaxFailures: 5}))
	var next []int
	for _, l := range lines {
		next = append(next, l.Siguiente)
	}
	assert.Equal(t, []int{1, 2, 2, 4, 5, 5, 5, 5, 9, 10, 10, 10, 10, 10, 10}, next, "an input that alone failed is passed")
	assert.Equal(t, 10, stopped.Posicion)
}

func TestOneQueryGoesUntilTheServiceAnsweredOne(t *testing.T) {
	refused := raw(401, "")
	for name, test := range map[string]struct {
		first  []string
		opts   []fiscope.Option
		answer func(*http.Request) (*http.Response, error) // to the first request; nil for a refusal
		sent   int
	}{
		"nothing else":    {nil, nil, nil, 1},
		"a malformed one": {[]string{"x", "", "2013131295"}, nil, nil, 1},
		"a cached one":    {[]string{rucSUNAT, rucSUNAT, rucSUNAT}, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, nil, 1},
		"both":            {[]string{"x", rucSUNAT, "y"}, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, nil, 1},
		"a failure":       {nil, nil, raw(501, ""), 2},
		"a page":          {nil, nil, raw(200, "<html>"), 2},
		"a wall's page":   {nil, nil, raw(403, "<html>Access denied</html>"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				cached := false
				n := 0
				p.delay = aSecond
				p.answer = func(string, int) (*http.Response, error) {
					if n++; !cached {
						return nil, nil
					}
					if n == 1 && test.answer != nil {
						return test.answer(nil)
					}
					return refused(nil)
				}
				client := newClient(t, p, test.opts...)
				_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
				require.NoError(t, err)
				cached, n = true, 0
				_, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(slices.Concat(test.first, slices.Collect(rucs(50)))), fiscope.LotePolicy{}))
				require.ErrorIs(t, stopped, fiscope.ErrUnauthorized)
				assert.Equal(t, test.sent, n)
			})
		})
	}
}

func TestA403ForOneInputIsItsAlone(t *testing.T) {
	page := raw(403, "<html><title>403 Forbidden</title>The request was blocked.</html>")
	plain := raw(403, `{"message":"Forbidden"}`)
	service := raw(403, `{"error":"La clave no es válida","code":"FORBIDDEN"}`)
	first := func(r string) bool { return r == ruc(0) }
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		which  func(ruc string) bool
		stops  bool
		lines  int
	}{
		"a page for the first":              {page, first, false, 40},
		"... behind a BOM":                  {raw(403, "\ufeff<html>blocked"), first, false, 40},
		"... in UTF-16":                     {raw(403, "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00"), first, false, 40},
		"a text for the first":              {raw(403, "Access denied. Reference #18.2f"), first, false, 40},
		"no word for the first":             {raw(403, ""), first, false, 40},
		"another's JSON for the first":      {plain, first, false, 40},
		"a list for the first":              {raw(403, `[{"error":"no"}]`), first, false, 40},
		"the service's for the first":       {service, first, true, 0},
		"its code alone":                    {raw(403, `{"code":"FORBIDDEN"}`), first, true, 0},
		"the service's for one":             {service, func(r string) bool { return r == ruc(7) }, false, 40},
		"the service's from then on":        {service, func(r string) bool { return r >= ruc(7) }, true, 7 + 5},
		"a page for one":                    {page, func(r string) bool { return r == ruc(7) }, false, 40},
		"a text for one":                    {raw(403, "blocked"), func(r string) bool { return r == ruc(7) }, false, 40},
		"no word for one":                   {raw(403, ""), func(r string) bool { return r == ruc(7) }, false, 40},
		"JSON for one":                      {plain, func(r string) bool { return r == ruc(7) }, false, 40},
		"the service's for all: the key":    {service, func(string) bool { return true }, true, 0},
		"another's JSON for all":            {plain, func(string) bool { return true }, true, 5},
		"JSON from then on":                 {plain, func(r string) bool { return r >= ruc(7) }, true, 7 + 5},
		"a text for all":                    {raw(403, "Forbidden"), func(string) bool { return true }, true, 5},
		"no word for all":                   {raw(403, ""), func(string) bool { return true }, true, 5},
		"a page for all":                    {page, func(string) bool { return true }, true, 5},
		"401 for one: the key":              {raw(401, "<html>"), func(r string) bool { return r == ruc(7) }, true, 7},
		"403 that shows a spent quota: all": {raw(403, "", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)), func(r string) bool { return r == ruc(7) }, true, 7},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPadron(t)
			p.answer = func(r string, _ int) (*http.Response, error) {
				if test.which(r) {
					return test.answer(nil)
				}
				return nil, nil
			}
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(40), fiscope.LotePolicy{Concurrency: 1, MaxFailures: 5}))
			assert.Len(t, lines, test.lines)
			assert.Equal(t, test.stops, stopped != nil)
		})
	}
}

// How many answers another run pays again is a field of the policy.
func TestAWindowBoundsWhatIsPaidAgain(t *testing.T) {
	for _, window := range []int{1, 3, 50, 0} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := window
				if limit == 0 {
					limit = 1000
				}
				p := newPadron(t)
				p.delay = func(r string) time.Duration {
					if r == ruc(1) {
						return 8 * time.Second
					}
					return time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(3000), fiscope.LotePolicy{Window: window}))
				require.ErrorIs(t, stopped, context.DeadlineExceeded)
				assert.Equal(t, 1, stopped.Posicion)
				assert.Len(t, lines, limit, "the first, and all in the window but the slow one")
			})
		})
	}
	lines, stopped := all(newClient(t, newPadron(t)).Contribuyentes.ConsultarLote(t.Context(), rucs(1), fiscope.LotePolicy{Window: -1}))
	assert.Empty(t, lines)
	require.ErrorIs(t, stopped, fiscope.ErrInvalidRequest)
}

// What was sent is paid: with a cache it is brought home, so that the next run has it.
func TestToBreakOutWithACacheBringsHomeWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled atomic.Int64
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r == ruc(0) {
				return time.Second
			}
			return 5 * time.Second
		}
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := p.RoundTrip(r)
			if errors.Is(err, context.Canceled) {
				cancelled.Add(1)
			}
			return resp, err
		}), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithRateLimit(rate.Every(time.Second), 4))
		start := time.Now()
		inputs := append(slices.Collect(rucs(7)), "x")
		for l := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Concurrency: 8}) {
			if l.Entrada == "x" {
				time.Sleep(500 * time.Millisecond) // a few others are sent, and a few wait for the limiter
				break
			}
		}
		assert.Equal(t, 1500*time.Millisecond, time.Since(start), "the loop waits for none")
		sent := p.sent()
		require.Equal(t, 1+4, sent)
		require.NoError(t, client.Close(t.Context()))
		assert.Equal(t, 6*time.Second, time.Since(start))
		assert.Equal(t, sent, p.sent(), "what was not sent is abandoned")
		assert.Zero(t, cancelled.Load())
		lines, _ := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(7), fiscope.LotePolicy{}))
		assert.Len(t, lines, 7)
		assert.Equal(t, 7, p.sent(), "what was sent is there")
	})
}

func TestALineSaysWhatIsKnownOfItsAnswer(t *testing.T) {
	other := strings.Replace(contract(t, "consultar_200.json"), rucSUNAT, rucEmisor, 1)
	t.Run("another taxpayer's record", func(t *testing.T) {
		for _, opts := range ways {
			client := newClient(t, roundTripper(raw(200, other, "X-RateLimit-Remaining: 7")), append(opts(), fiscope.WithLenientReading())...)
			lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT}), fiscope.LotePolicy{Concurrency: 1}))
			require.Nil(t, stopped)
			require.Len(t, lines, 2)
			for _, l := range lines {
				require.NoError(t, l.err)
				assert.Equal(t, 200, l.Response.StatusCode)
				require.Len(t, l.Response.Warnings, 1)
				assert.Contains(t, l.Response.Warnings[0], "the answer is of 20…970")
			}
			assert.Equal(t, 7, lines[0].Response.RateLimit.Remaining)
			assert.Equal(t, 1, lines[0].Response.Attempts)
			assert.NotEmpty(t, lines[0].Response.Header)
			assert.Zero(t, lines[1].Response.Attempts)
			lines[0].Response.Warnings[0] = "changed"
			assert.NotEqual(t, "changed", lines[1].Response.Warnings[0])
		}
	})
	t.Run("a stale one, and its duplicates", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPadron(t)
			down := false
			p.answer = func(string, int) (*http.Response, error) {
				if down {
					return raw(501, "")(nil)
				}
				return nil, nil
			}
			client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 30 * 24 * time.Hour}))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.NoError(t, err)
			time.Sleep(20 * 24 * time.Hour)
			down = true
			n := 0
			for l, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT, rucSUNAT}), fiscope.LotePolicy{Concurrency: 1}) {
				require.NoError(t, err)
				assert.True(t, l.Response.Stale)
				assert.True(t, l.Response.FromCache)
				assert.Equal(t, 20*24*time.Hour+time.Duration(n)*time.Hour, l.Response.Age)
				time.Sleep(time.Hour)
				n++
			}
			assert.Equal(t, 3, n)
		})
	})
	t.Run("an error", func(t *testing.T) {
		client, _ := answers(t, raw(404, contract(t, "consultar_404.json"), "X-Request-Id: 7"))
		lines, _ := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, "x", rucSUNAT}), fiscope.LotePolicy{Concurrency: 1}))
		require.Len(t, lines, 3)
		assert.Equal(t, "7", lines[0].Response.Header.Get("X-Request-Id"))
		assert.Zero(t, lines[1].Response.StatusCode)
		assert.Equal(t, 404, lines[2].Response.StatusCode)
	})
	t.Run("a receipt, and its duplicate", func(t *testing.T) {
		client := newClient(t, roundTripper(raw(200, `{"codigo":"0","mensaje":"m","estado":"Anulado","esValido":true}`)), fiscope.WithLenientReading())
		got := 0
		for l, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura, factura}), credenciales, fiscope.LotePolicy{Concurrency: 1}) {
			require.NoError(t, err)
			assert.NotEmpty(t, l.Response.Warnings)
			assert.Equal(t, fiscope.ResultadoCPE{Codigo: "0", Mensaje: "m", Estado: "Anulado", EsValido: true}, *l.Resultado)
			got++
		}
		assert.Equal(t, 2, got)
	})
}

// An outage is not hidden by what the cache has.
func TestAnswersOfTheCacheDoNotCountAsTheService(t *testing.T) {
	p := newPadron(t)
	down := false
	p.answer = func(string, int) (*http.Response, error) {
		if down {
			return raw(501, "")(nil)
		}
		return nil, nil
	}
	client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{}))
	for n := 1; n < 100; n += 2 {
		_, err := client.Contribuyentes.Consultar(t.Context(), ruc(n))
		require.NoError(t, err)
	}
	before := p.sent()
	down = true
	_, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{MaxFailures: 4}))
	require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
	assert.Zero(t, stopped.Posicion)
	assert.Equal(t, 4, p.sent()-before)
}

// Stale answers are lines like any other, and do not hide an outage.
func TestStaleAnswersAreFailuresInARow(t *testing.T) {
	spent := raw(429, "", "Retry-After: 3600")
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error) // while there is trouble
		steady func(ruc string) bool                       // has none
		policy fiscope.LotePolicy
		lines  int
		next   int
		reason error // nil for none
	}{
		"an outage":             {raw(503, ""), nil, fiscope.LotePolicy{}, 20, 0, fiscope.ErrUnavailable},
		"... from then on":      {raw(503, ""), func(r string) bool { return r < ruc(7) }, fiscope.LotePolicy{MaxFailures: 5}, 12, 7, fiscope.ErrUnavailable},
		"... and every other":   {raw(503, ""), func(r string) bool { return r[10]%2 == 0 }, fiscope.LotePolicy{MaxFailures: 2}, 90, 89, nil},
		"... that stops nobody": {raw(503, ""), nil, fiscope.LotePolicy{MaxFailures: -1}, 90, 0, nil},
		"a spent quota":         {spent, nil, fiscope.LotePolicy{MaxFailures: 5}, 5, 0, fiscope.ErrQuotaExceeded},
	} {
		for _, again := range []time.Duration{time.Second, time.Hour} { // before and after the service is asked again
			t.Run(fmt.Sprint(name, ", again after ", again), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPadron(t)
					down := false
					p.answer = func(r string, _ int) (*http.Response, error) {
						if down && (test.steady == nil || !test.steady(r)) {
							return test.answer(nil)
						}
						return nil, nil
					}
					client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Second, StaleIfError: 48 * time.Hour}), fiscope.WithRetry(noRetries()), fiscope.WithoutQuotaGate())
					all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(90), fiscope.LotePolicy{}))
					time.Sleep(24 * time.Hour)
					down = true
					test.policy.Concurrency = 1
					for range 2 {
						lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(90), test.policy))
						assert.Len(t, lines, test.lines)
						for _, l := range lines {
							require.NoError(t, l.err)
							assert.Equal(t, test.steady == nil || !test.steady(l.Entrada), l.Response.Stale)
						}
						assert.Equal(t, test.next, lines[len(lines)-1].Siguiente)
						if test.reason == nil {
							assert.Nil(t, stopped)
						} else {
							require.ErrorIs(t, stopped, test.reason)
							assert.Equal(t, test.next, stopped.Posicion)
						}
						time.Sleep(again)
					}
				})
			})
		}
	}
}

// A stale answer serves while the service cannot be asked, and no longer: a duplicate does not carry it further.
func TestADuplicateOfAStaleAnswerIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		down := false
		p.answer = func(string, int) (*http.Response, error) {
			if down {
				return raw(503, "")(nil)
			}
			return nil, nil
		}
		client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 48 * time.Hour}), fiscope.WithRetry(noRetries()))
		all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(1), fiscope.LotePolicy{}))
		time.Sleep(24 * time.Hour)
		down = true
		n := &notes{}
		var stale []bool
		inputs := []string{ruc(0), ruc(1), ruc(0), ruc(0)}
		for l, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Concurrency: 1, Progress: n}) {
			require.NoError(t, err)
			stale = append(stale, l.Response.Stale)
			down = false
			time.Sleep(40 * time.Hour)
		}
		assert.Equal(t, []bool{true, false, false, false}, stale)
		assert.Equal(t, 4, p.sent(), "two before it was up again, with the one that was cached, and two after")
		for _, input := range inputs {
			done, err := n.Done(t.Context(), input)
			require.NoError(t, err)
			assert.True(t, done)
		}
	})
}

// What a throttling service asks for is waited for, although a stale answer is at hand.
func TestABatchWithStaleAnswersGoesOnMoreSlowlyToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 48 * time.Hour}), fiscope.WithRetry(noRetries()))
		all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{}))
		time.Sleep(24 * time.Hour)
		throttled := false
		p.answer = func(r string, _ int) (*http.Response, error) {
			if r == ruc(4) && !throttled {
				throttled = true
				return raw(429, "", "Retry-After: 40")(nil)
			}
			return nil, nil
		}
		start := time.Now()
		lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{Concurrency: 1}))
		require.Nil(t, stopped)
		assert.GreaterOrEqual(t, time.Since(start), 40*time.Second)
		for _, l := range lines {
			require.NoError(t, l.err)
			assert.False(t, l.Response.Stale, "it was asked again")
		}
	})
}
