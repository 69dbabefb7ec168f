package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// padron is a service that has every RUC, and counts.
type padron struct {
	record string
	delay  func(ruc string) time.Duration
	answer func(ruc string, n int) (*http.Response, error) // nil for the record; n counts the requests of that RUC from 1

	mu       sync.Mutex
	asked    map[string]int
	requests int
	aloft    int
	highest  int // of aloft
}

func newPadron(t testing.TB) *padron {
	return &padron{record: contract(t, "consultar_200.json"), asked: map[string]int{}}
}

func (p *padron) RoundTrip(r *http.Request) (*http.Response, error) {
	ruc := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	p.mu.Lock()
	p.asked[ruc]++
	p.requests++
	p.aloft++
	p.highest = max(p.highest, p.aloft)
	n := p.asked[ruc]
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.aloft--
		p.mu.Unlock()
	}()
	if p.delay != nil {
		select {
		case <-time.After(p.delay(ruc)):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if p.answer != nil {
		if resp, err := p.answer(ruc, n); resp != nil || err != nil {
			return resp, err
		}
	}
	return raw(200, strings.Replace(p.record, rucSUNAT, ruc, 1))(r)
}

func (p *padron) sent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

func aSecond(string) time.Duration { return time.Second }

func ruc(n int) string { return fmt.Sprintf("20%09d", n) }

// rucs are n different ones.
func rucs(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(ruc(i)) {
				return
			}
		}
	}
}

type line struct {
	fiscope.DeLote[string, fiscope.Contribuyente]
	err error
}

// all takes the lines of a batch, and how it stopped.
func all(seq iter.Seq2[fiscope.DeLote[string, fiscope.Contribuyente], error]) (lines []line, stopped *fiscope.LoteDetenido) {
	for l, err := range seq {
		if errors.As(err, &stopped) {
			continue
		}
		lines = append(lines, line{l, err})
	}
	return lines, stopped
}

func positions(lines []line) []int {
	var ps []int
	for _, l := range lines {
		ps = append(ps, l.Posicion)
	}
	slices.Sort(ps)
	return ps
}

func upTo(from, to int) []int {
	ps := make([]int, 0, to-from)
	for p := from; p < to; p++ {
		ps = append(ps, p)
	}
	return ps
}

// Over random inputs, answers, delays and policies: each input is delivered once and with its own
// answer, each different one is asked once, and Siguiente is what it says it is.
func TestABatchDeliversEachInputOnce(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			inputs := make([]string, random.IntN(400))
			different := map[string]bool{}
			for i := range inputs {
				if inputs[i] = ruc(random.IntN(200)); random.IntN(20) == 0 {
					inputs[i] = "no es un RUC"
				} else {
					different[inputs[i]] = true
				}
			}
			p := newPadron(t)
			var mu sync.Mutex
			p.delay = func(string) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(random.IntN(1000)) * time.Millisecond
			}
			p.answer = func(ruc string, _ int) (*http.Response, error) {
				if ruc[10] == '7' {
					return raw(404, contract(t, "consultar_404.json"))(nil)
				}
				return nil, nil
			}
			policy := fiscope.LotePolicy{Concurrency: random.IntN(12)}
			low, taken, pace := 0, map[int]bool{}, rand.New(rand.NewPCG(seed, 5))
			lines, stopped := all(func(yield func(fiscope.DeLote[string, fiscope.Contribuyente], error) bool) {
				for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), policy) {
					taken[l.Posicion] = true
					for taken[low] {
						low++
					}
					require.Equal(t, low, l.Siguiente)
					if pace.IntN(10) == 0 {
						time.Sleep(time.Second)
					}
					if !yield(l, err) {
						return
					}
				}
			})
			require.Nil(t, stopped)
			require.Equal(t, upTo(0, len(inputs)), positions(lines))
			for _, l := range lines {
				require.Equal(t, inputs[l.Posicion], l.Entrada)
				require.Equal(t, l.err == nil, l.Resultado != nil)
				switch {
				case len(l.Entrada) != 11:
					require.ErrorIs(t, l.err, fiscope.ErrInvalidRequest)
				case l.Entrada[10] == '7':
					require.ErrorIs(t, l.err, fiscope.ErrNotFound)
				default:
					require.NoError(t, l.err)
					require.Equal(t, l.Entrada, l.Resultado.RUC)
				}
			}
			require.Equal(t, len(different), p.sent(), "each different RUC is one query")
			limit := policy.Concurrency
			if limit == 0 {
				limit = 8
			}
			require.LessOrEqual(t, p.highest, limit)
		})
	}
}

func TestABatchAsksManyAtATimeAndTheFirstAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		start := time.Now()
		lines, _ := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(41), fiscope.LotePolicy{Concurrency: 10}))
		assert.Len(t, lines, 41)
		assert.Equal(t, 5*time.Second, time.Since(start), "one second for the first, four for ten each")
		assert.Equal(t, 10, p.highest)
	})
}

func TestTheConsumersPaceBoundsWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		read := 0
		inputs := func(yield func(string) bool) {
			for r := range rucs(1000) {
				if read++; !yield(r) {
					return
				}
			}
		}
		taken := 0
		for _, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{Concurrency: 4}) {
			require.NoError(t, err)
			taken++
			time.Sleep(time.Minute)
			require.LessOrEqual(t, p.sent(), taken+4)
			require.LessOrEqual(t, read, taken+4)
			if taken == 20 {
				break
			}
		}
	})
}

func TestABatchIsNotWiderThanItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		lines, _ := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(3000), fiscope.LotePolicy{Concurrency: math.MaxInt}))
		assert.Len(t, lines, 3000)
		assert.LessOrEqual(t, p.highest, 1000)
	})
}

func TestASlowInputDoesNotHoldBackWhatIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		inputs := func(yield func(string) bool) {
			for r := range rucs(5) {
				time.Sleep(time.Second)
				if !yield(r) {
					return
				}
			}
		}
		start := time.Now()
		for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}) {
			require.NoError(t, err)
			assert.LessOrEqual(t, time.Since(start), time.Duration(l.Posicion+2)*time.Second)
		}
	})
}

func TestABatchStopsAtTheQuotasEndAndTheNextGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		reserve []fiscope.CallOption
		quiet   bool // no headers: the end shows as a 429
		first   int
		sent    int
	}{
		"the quota":    {nil, false, 100, 100},
		"its reserve":  {[]fiscope.CallOption{fiscope.WithQuotaReserve(40)}, false, 60, 60},
		"a silent 429": {nil, true, 100, 108},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 4))
					var mu sync.Mutex
					left := 100
					p := newPadron(t)
					reset := time.Now().Add(24 * time.Hour).UTC()
					p.delay = func(string) time.Duration {
						mu.Lock()
						defer mu.Unlock()
						return time.Duration(random.IntN(1000)) * time.Millisecond
					}
					p.answer = func(ruc string, _ int) (*http.Response, error) {
						mu.Lock()
						defer mu.Unlock()
						var headers []string
						if left--; !test.quiet {
							headers = []string{fmt.Sprint("X-RateLimit-Remaining: ", max(0, left)), "X-RateLimit-Reset: " + reset.Format(time.RFC3339)}
						}
						if left < 0 {
							return raw(429, "", headers...)(nil)
						}
						return raw(200, strings.Replace(p.record, rucSUNAT, ruc, 1), headers...)(nil)
					}
					client := newClient(t, p)
					lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(300), fiscope.LotePolicy{}, test.reserve...))
					require.Len(t, lines, test.first, "every query that is left is used, and its result delivered")
					require.LessOrEqual(t, p.sent(), test.sent)
					require.ErrorIs(t, stopped, fiscope.ErrQuotaExceeded)
					for _, l := range lines {
						require.NoError(t, l.err)
					}
					got := positions(lines)
					lowest := 0
					for slices.Contains(got, lowest) {
						lowest++
					}
					require.Equal(t, lowest, stopped.Posicion)
					require.Less(t, got[len(got)-1], lowest+1000)

					time.Sleep(time.Until(reset))
					mu.Lock()
					left, reset = 1000, time.Now().Add(24*time.Hour).UTC()
					mu.Unlock()
					rest, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(300), fiscope.LotePolicy{From: stopped.Posicion}, test.reserve...))
					require.Nil(t, stopped)
					require.Equal(t, upTo(lowest, 300), positions(rest))
				})
			}
		})
	}
}

func TestAThrottlingBatchGoesOnMoreSlowly(t *testing.T) {
	tomorrow := func() string { return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }
	for name, test := range map[string]struct {
		headers   func() []string
		throttled bool
		pauses    time.Duration
	}{
		"queries are left":            {func() []string { return []string{"X-RateLimit-Remaining: 500", "X-RateLimit-Reset: " + tomorrow()} }, true, 3 * time.Second},
		"none are left":               {func() []string { return []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + tomorrow()} }, false, 0},
		"no number, come back soon":   {func() []string { return []string{"Retry-After: 30"} }, true, time.Minute},
		"no number, come back late":   {func() []string { return []string{"Retry-After: 61"} }, false, 0},
		"no number and no time":       {func() []string { return nil }, false, 0},
		"none are left, but so it is": {func() []string { return []string{"X-RateLimit-Remaining: 0", "Retry-After: 30"} }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answer = func(r string, n int) (*http.Response, error) {
					if r == ruc(5) && n < 3 {
						return raw(429, "", test.headers()...)(nil)
					}
					return nil, nil
				}
				start := time.Now()
				lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(20), fiscope.LotePolicy{}))
				if !test.throttled {
					require.ErrorIs(t, stopped, fiscope.ErrQuotaExceeded)
					assert.LessOrEqual(t, stopped.Posicion, 5) // those before it may not have left yet
					assert.NotContains(t, positions(lines), stopped.Posicion)
					assert.Equal(t, 1, p.asked[ruc(5)])
					return
				}
				require.Nil(t, stopped)
				require.Equal(t, upTo(0, 20), positions(lines))
				for _, l := range lines {
					require.NoError(t, l.err)
				}
				assert.Equal(t, 22, p.sent())
				assert.GreaterOrEqual(t, time.Since(start), test.pauses, "what is asked for, or one second and then two")
			})
		})
	}
}

func TestAnInputThatStaysThrottledIsOneFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(r string, n int) (*http.Response, error) {
			if r == ruc(5) {
				return raw(429, "", "X-RateLimit-Remaining: 500", "X-RateLimit-Reset: "+time.Now().Add(time.Hour).UTC().Format(time.RFC3339))(nil)
			}
			return nil, nil
		}
		start := time.Now()
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(20), fiscope.LotePolicy{}))
		require.Nil(t, stopped)
		require.Len(t, lines, 20)
		for _, l := range lines {
			if l.Posicion == 5 {
				require.ErrorIs(t, l.err, fiscope.ErrQuotaExceeded)
			}
		}
		assert.Equal(t, 5, p.asked[ruc(5)])
		assert.GreaterOrEqual(t, time.Since(start), 15*time.Second)
	})
}

func TestABatchStopsAtWhatHoldsForAll(t *testing.T) {
	for name, test := range map[string]struct {
		answer  func(*http.Request) (*http.Response, error)
		want    error
		queries int
		lines   int
	}{
		"the key is refused":   {raw(401, ""), fiscope.ErrUnauthorized, 1, 0},
		"forbidden":            {raw(403, `{"error":"La clave no es válida"}`), fiscope.ErrUnauthorized, 1, 0},
		"... by another one":   {raw(403, ""), fiscope.ErrUnauthorized, 6, 6},
		"a redirect":           {raw(302, "", "Location: https://x.example/"), fiscope.ErrRedirect, 6, 6},
		"another page":         {raw(200, "<html>"), fiscope.ErrMalformedResponse, 6, 6},
		"the service refuses":  {raw(400, `{"error":"no","code":"OTHER"}`), fiscope.ErrInvalidRequest, 6, 6},
		"the service is down":  {raw(501, ""), fiscope.ErrUnavailable, 6, 6},
		"nobody has that RUC":  {raw(404, `{"error":"no","code":"NOT_FOUND"}`), nil, 50, 50},
		"a 404 of another one": {raw(404, "<html>"), fiscope.ErrMalformedResponse, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answer = func(string, int) (*http.Response, error) { return test.answer(nil) }
				lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(50), fiscope.LotePolicy{Concurrency: 1, MaxFailures: 6}))
				assert.Equal(t, test.queries, p.sent())
				assert.Len(t, lines, test.lines)
				if test.want == nil {
					require.Nil(t, stopped)
					return
				}
				require.ErrorIs(t, stopped, test.want)
				assert.Zero(t, stopped.Posicion, "the failures in a row are asked again")
				assert.ErrorContains(t, stopped, "stopped before position 0: Contribuyentes.Consultar: ")
			})
		})
	}
	t.Run("a failure now and then does not", func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(r string, _ int) (*http.Response, error) {
			if r[10] != '3' {
				return raw(501, "")(nil)
			}
			return nil, nil
		}
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{Concurrency: 1, MaxFailures: 10}))
		require.Nil(t, stopped)
		assert.Len(t, lines, 100)
	})
	t.Run("the last ones are to be asked again, too", func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(string, int) (*http.Response, error) { return raw(501, "")(nil) }
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(6), fiscope.LotePolicy{MaxFailures: 6}))
		assert.Len(t, lines, 6)
		require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
		assert.Zero(t, stopped.Posicion)
	})
	t.Run("never, if one wants", func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(string, int) (*http.Response, error) { return raw(501, "")(nil) }
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{MaxFailures: -1}))
		require.Nil(t, stopped)
		assert.Len(t, lines, 100)
	})
}

func TestARefusedClaveStopsABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		receipts := func(yield func(fiscope.Comprobante) bool) {
			for c := factura; ; c.Numero++ {
				if !yield(c) {
					return
				}
			}
		}
		client, s := answers(t, slowly(raw(401, contract(t, "validar_401.json"))))
		n := 0
		for l, err := range client.CPE.ValidarLote(t.Context(), receipts, credenciales, fiscope.LotePolicy{}) {
			n++
			require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
			require.NotErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
			var stopped *fiscope.LoteDetenido
			require.ErrorAs(t, err, &stopped)
			assert.Zero(t, l.Siguiente)
			assert.NotContains(t, fmt.Sprintf("%+v", err), clave)
		}
		assert.Equal(t, 1, n)
		assert.Len(t, s.seen(), 1)

		// Refused in the middle: what was under way is delivered, and nothing more is sent.
		verdict, refused := slowly(raw(200, contract(t, "validar_200_aceptado.json"))), slowly(raw(401, contract(t, "validar_401.json")))
		client, s = answers(t, verdict, verdict, verdict, refused, verdict)
		var got []int
		for l, err := range client.CPE.ValidarLote(t.Context(), receipts, credenciales, fiscope.LotePolicy{Concurrency: 4}) {
			if err == nil {
				got = append(got, l.Posicion)
				continue
			}
			var stopped *fiscope.LoteDetenido
			require.ErrorAs(t, err, &stopped)
			require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
			assert.NotContains(t, got, stopped.Posicion)
		}
		assert.Len(t, got, len(s.seen())-1)
		assert.Less(t, len(s.seen()), 12)
	})
}

func TestABatchOfReceipts(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "validar_200_en_proceso.json")))
	other := factura
	other.Numero++
	wrong := fiscope.Comprobante{}
	receipts := []fiscope.Comprobante{factura, other, wrong, factura}
	got := map[int]fiscope.DeLote[fiscope.Comprobante, fiscope.ResultadoCPE]{}
	for l, err := range client.CPE.ValidarLote(t.Context(), slices.Values(receipts), credenciales, fiscope.LotePolicy{}) {
		if l.Entrada == wrong {
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
		} else {
			require.NoError(t, err)
			assert.Equal(t, fiscope.CodigoEnProceso, l.Resultado.Codigo)
		}
		assert.Equal(t, receipts[l.Posicion], l.Entrada)
		got[l.Posicion] = l
	}
	assert.Len(t, got, 4)
	assert.True(t, got[3].Repetido)
	assert.NotSame(t, got[0].Resultado, got[3].Resultado)
	assert.Len(t, s.seen(), 2)
}

func TestDuplicates(t *testing.T) {
	take := func(t *testing.T, p *padron, policy fiscope.LotePolicy, inputs ...string) []line {
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), policy))
		require.Nil(t, stopped)
		slices.SortFunc(lines, func(a, b line) int { return a.Posicion - b.Posicion })
		return lines
	}
	a, b, c := ruc(1), ruc(2), ruc(3)
	t.Run("are asked once, and each has its own copy", func(t *testing.T) {
		p := newPadron(t)
		lines := take(t, p, fiscope.LotePolicy{}, a, a, b, a)
		assert.Equal(t, 2, p.sent())
		assert.Equal(t, []bool{false, true, false, true}, []bool{lines[0].Repetido, lines[1].Repetido, lines[2].Repetido, lines[3].Repetido})
		lines[0].Resultado.RazonSocial = "changed"
		assert.NotEqual(t, "changed", lines[1].Resultado.RazonSocial)
		assert.NotEqual(t, "changed", lines[3].Resultado.RazonSocial)
	})
	t.Run("while the first is under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPadron(t)
			p.delay = func(r string) time.Duration {
				if r == a {
					return time.Minute / 10
				}
				return 0
			}
			lines := take(t, p, fiscope.LotePolicy{}, c, a, a, b, a)
			assert.Len(t, lines, 5)
			assert.Equal(t, 3, p.sent())
		})
	})
	t.Run("beyond the memory are asked again", func(t *testing.T) {
		p := newPadron(t)
		take(t, p, fiscope.LotePolicy{Memory: 2, Concurrency: 1}, a, b, a, c, b)
		assert.Equal(t, 1, p.asked[a], "it is among the last two inputs")
		assert.Equal(t, 2, p.asked[b], "two others came in between")
	})
	t.Run("without a memory", func(t *testing.T) {
		p := newPadron(t)
		lines := take(t, p, fiscope.LotePolicy{Memory: -1}, a, a, a)
		assert.Equal(t, 3, p.sent())
		assert.False(t, lines[2].Repetido)
	})
	t.Run("of what nobody has", func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(string, int) (*http.Response, error) { return raw(404, contract(t, "consultar_404.json"))(nil) }
		lines := take(t, p, fiscope.LotePolicy{Concurrency: 1}, a, b, a)
		assert.Equal(t, 2, p.sent())
		require.ErrorIs(t, lines[2].err, fiscope.ErrNotFound)
		assert.True(t, lines[2].Repetido)
		assert.NotSame(t, lines[0].err, lines[2].err)
	})
	t.Run("of what failed are asked again", func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(r string, n int) (*http.Response, error) {
			if n == 1 {
				return raw(501, "")(nil)
			}
			return nil, nil
		}
		lines := take(t, p, fiscope.LotePolicy{Concurrency: 1}, a, a)
		require.ErrorIs(t, lines[0].err, fiscope.ErrUnavailable)
		require.NoError(t, lines[1].err)
	})
	t.Run("100 000 inputs later", func(t *testing.T) {
		if testing.Short() || raceEnabled {
			t.Skip("takes seconds")
		}
		p := newPadron(t)
		last, extra := fiscope.DeLote[string, fiscope.Contribuyente]{}, 0
		inputs := func(yield func(string) bool) {
			for r := range rucs(100_000) {
				if !yield(r) {
					return
				}
			}
			_ = yield(ruc(1)) && yield(ruc(100_001)) && yield(ruc(0))
		}
		for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}) {
			require.NoError(t, err)
			if last = l; l.Posicion >= 100_000 && l.Repetido {
				extra++
			}
		}
		assert.Equal(t, 100_003, last.Siguiente)
		assert.Equal(t, 1, p.asked[ruc(1)])
		assert.Equal(t, 2, p.asked[ruc(0)], "it is 100 002 inputs back")
		assert.Equal(t, 1, extra)
	})
}

func TestABatchReadsNoFartherThanItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r == ruc(1) {
				return 9 * time.Second
			}
			return time.Millisecond
		}
		start := time.Now()
		highest := 0
		for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(3000), fiscope.LotePolicy{}) {
			require.NoError(t, err)
			if time.Since(start) < 9*time.Second {
				highest = max(highest, l.Posicion)
			}
		}
		assert.Equal(t, 1000, highest)
	})
}

func TestToBreakOutLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r <= ruc(1) {
				return time.Second
			}
			return 5 * time.Second
		}
		closed := false
		inputs := func(yield func(string) bool) {
			defer func() { closed = true }()
			rucs(1000)(yield)
		}
		start := time.Now()
		for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}) {
			require.NoError(t, err)
			if l.Posicion == 1 {
				break
			}
		}
		assert.Equal(t, 9, p.sent())
		assert.Equal(t, 2*time.Second, time.Since(start), "what is under way is not waited for")
		assert.Zero(t, p.aloft)
		assert.True(t, closed, "the input is told")
	})
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		assert.PanicsWithValue(t, "consumer", func() {
			for range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{}) {
				panic("consumer")
			}
		})
		assert.PanicsWithValue(t, "input", func() {
			for range newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), func(yield func(string) bool) {
				yield(ruc(1))
				panic("input")
			}, fiscope.LotePolicy{}) {
			}
		})
		assert.Zero(t, p.aloft)
	})
}

func TestACancelledBatchDeliversWhatCame(t *testing.T) {
	why := errors.New("the operator pressed Ctrl-C")
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r > ruc(20) {
				return 2 * time.Second
			}
			return time.Second
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(4500*time.Millisecond, func() { cancel(why) })
		start := time.Now()
		lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(100), fiscope.LotePolicy{Concurrency: 10}))
		assert.Equal(t, 4500*time.Millisecond, time.Since(start), "what is under way is not waited for")
		require.ErrorIs(t, stopped, context.Canceled)
		require.ErrorIs(t, stopped, why)
		require.EqualError(t, stopped, "fiscope: the batch stopped before position 21: context canceled: the operator pressed Ctrl-C")
		assert.Equal(t, upTo(0, stopped.Posicion), positions(lines))
		assert.Equal(t, 21, stopped.Posicion)
	})
	t.Run("also those that wait for a slow consumer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPadron(t)
			p.delay = func(r string) time.Duration {
				if r <= ruc(1) {
					return time.Second
				}
				return 2 * time.Second
			}
			p.answer = func(r string, _ int) (*http.Response, error) {
				if r == ruc(3) {
					return raw(404, contract(t, "consultar_404.json"))(nil)
				}
				return nil, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			lines, stopped := all(func(yield func(fiscope.DeLote[string, fiscope.Contribuyente], error) bool) {
				for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(100), fiscope.LotePolicy{Concurrency: 4}) {
					if l.Posicion == 1 {
						time.Sleep(10 * time.Second) // 2, 3, 4 and 5 came meanwhile
						cancel()
					}
					if !yield(l, err) {
						return
					}
				}
			})
			require.ErrorIs(t, stopped, context.Canceled)
			assert.Len(t, lines, p.sent(), "nothing that was paid is lost")
			assert.GreaterOrEqual(t, len(lines), 5)
		})
	})
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := newPadron(t)
		for _, from := range []int{0, 10} {
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(100), fiscope.LotePolicy{From: from}))
			assert.Empty(t, lines)
			require.ErrorIs(t, stopped, context.Canceled)
			assert.Equal(t, from, stopped.Posicion)
		}
		assert.Zero(t, p.sent())
	})
	t.Run("while it is throttled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPadron(t)
			p.answer = func(string, int) (*http.Response, error) {
				return raw(429, "", "Retry-After: 50")(nil)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			start := time.Now()
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(100), fiscope.LotePolicy{}))
			assert.Equal(t, 10*time.Second, time.Since(start))
			assert.Empty(t, lines, "it was not answered")
			require.ErrorIs(t, stopped, context.DeadlineExceeded)
		})
	})
}

func TestABatchCanBeginAnywhere(t *testing.T) {
	p := newPadron(t)
	client := newClient(t, p)
	lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(10), fiscope.LotePolicy{From: 7}))
	require.Nil(t, stopped)
	assert.Equal(t, upTo(7, 10), positions(lines))
	assert.Equal(t, 3, p.sent())
	for _, l := range lines {
		assert.Equal(t, ruc(l.Posicion), l.Entrada)
	}
	lines, stopped = all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(10), fiscope.LotePolicy{From: 11}))
	require.Nil(t, stopped)
	assert.Empty(t, lines)
	lines, stopped = all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(0), fiscope.LotePolicy{}))
	require.Nil(t, stopped)
	assert.Empty(t, lines)
}

func TestABatchIsRefusedLocally(t *testing.T) {
	p := newPadron(t)
	client := newClient(t, p)
	read := false
	inputs := func(yield func(string) bool) {
		read = true
		yield(rucSUNAT)
	}
	var none iter.Seq[string]
	var resp fiscope.Response
	for name, batch := range map[string]iter.Seq2[fiscope.DeLote[string, fiscope.Contribuyente], error]{
		"concurrency": client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{Concurrency: -1}),
		"from":        client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{From: -1}),
		"no inputs":   client.Contribuyentes.ConsultarLote(t.Context(), none, fiscope.LotePolicy{}),
		"a response":  client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}, fiscope.WithResponse(&resp)),
		"nil option":  client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}, nil),
		"provisional": client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}, fiscope.WithProvisional()),
		//lint:ignore SA1012 the point of the test
		"nil context": client.Contribuyentes.ConsultarLote(nil, inputs, fiscope.LotePolicy{}), //nolint:staticcheck // the point of the test
	} {
		lines, stopped := all(batch)
		assert.Empty(t, lines, name)
		require.NotNil(t, stopped, name)
		require.ErrorIs(t, stopped, fiscope.ErrInvalidRequest, name)
		var e *fiscope.Error
		require.ErrorAs(t, stopped, &e, name)
		assert.Equal(t, fiscope.OpConsultarLote, e.Op)
	}
	withoutClave := credenciales
	withoutClave.Clave = fiscope.Secreto{}
	for _, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura}), withoutClave, fiscope.LotePolicy{}) {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
		require.ErrorContains(t, err, "claveSol is empty")
	}
	assert.False(t, read)
	assert.Zero(t, p.sent())
}

func TestABatchCanBeRangedOverAgain(t *testing.T) {
	p := newPadron(t)
	batch := newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(5), fiscope.LotePolicy{})
	for range 2 {
		lines, stopped := all(batch)
		require.Nil(t, stopped)
		assert.Equal(t, upTo(0, 5), positions(lines))
	}
	assert.Equal(t, 10, p.sent())
}

func ExampleContribuyentesService_ConsultarLote() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	rucs := slices.Values([]string{"20131312955", "20331898008", "99999999999", "20131312955"})
	found := map[int]string{} // they come in no order
	for l, err := range client.Contribuyentes.ConsultarLote(context.Background(), rucs, fiscope.LotePolicy{}) {
		var stopped *fiscope.LoteDetenido
		switch {
		case errors.As(err, &stopped):
			fmt.Println("go on another day from", stopped.Posicion)
		case errors.Is(err, fiscope.ErrNotFound):
			found[l.Posicion] = "nobody"
		case err != nil:
			fmt.Println(l.Posicion, err)
		default:
			found[l.Posicion] = l.Resultado.RazonSocial
		}
	}
	for position := range len(found) {
		fmt.Println(position, found[position])
	}
	fmt.Println(client.Stats().Sent, "queries")
	// Output:
	// 0 SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// 1 LUZ DEL SUR S.A.A.
	// 2 nobody
	// 3 SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// 3 queries
}

func ExampleLoteDetenido() {
	srv, err := mockserver.Start(mockserver.WithQuota(10))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	// Two queries of the ten are for others.
	batch := client.Contribuyentes.ConsultarLote(context.Background(), rucs(1000), fiscope.LotePolicy{Concurrency: 1}, fiscope.WithQuotaReserve(2))
	for l, err := range batch {
		var stopped *fiscope.LoteDetenido
		if errors.As(err, &stopped) {
			fmt.Println("the next run begins at", stopped.Posicion, errors.Is(err, fiscope.ErrQuotaExceeded))
			break
		}
		_ = l.Siguiente // what to store, for a program that may be killed
	}
	fmt.Println(client.RateLimit().Remaining, "left")
	// Output:
	// the next run begins at 8 true
	// 2 left
}

func ExampleCPEService_ValidarLote() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	receipts := func(yield func(fiscope.Comprobante) bool) {
		for numero := 123; numero <= 126; numero++ {
			if !yield(fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: numero}) {
				return
			}
		}
	}
	count := map[fiscope.EstadoCPE]int{}
	for l, err := range client.CPE.ValidarLote(context.Background(), receipts, fiscope.CredencialesSOL{
		RUC:     mockserver.RUCSolicitante,
		Usuario: mockserver.UsuarioSOL,
		Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
	}, fiscope.LotePolicy{}) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		count[l.Resultado.Estado]++
	}
	fmt.Println(count)
	// Output: map[Aceptado:1 Anulado:1 En Proceso:1 No Existe:1]
}

func TestABatchWithoutMemoryDeliversErrors(t *testing.T) {
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"not found":    raw(404, contract(t, "consultar_404.json")),
		"refused":      raw(400, contract(t, "consultar_400.json")),
		"unavailable":  raw(500, ""),
		"no answer":    broken(errors.New("reset")),
		"no contract":  raw(200, "null"),
		"unauthorized": raw(401, ""),
		"throttled":    raw(429, "", "Retry-After: 1"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){answer}}, fiscope.WithRetry(noRetries()))
				failed := 0
				for line, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucEmisor, rucSUNAT, "x", "x"}), fiscope.LotePolicy{Memory: -1}) {
					require.Error(t, err)
					assert.Nil(t, line.Resultado)
					failed++
				}
				assert.Positive(t, failed)
				failed = 0
				for _, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura, factura, {}, {}}), credenciales, fiscope.LotePolicy{Memory: -1}) {
					require.Error(t, err)
					failed++
				}
				assert.Positive(t, failed)
			})
		})
	}
}

func TestADuplicateHasItsOwnError(t *testing.T) {
	client, s := answers(t, raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 7"))
	for line, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT, rucSUNAT}), fiscope.LotePolicy{Concurrency: 1}) {
		var e *fiscope.Error
		require.ErrorAs(t, err, &e, line.Posicion)
		assert.Equal(t, contract(t, "consultar_404.json"), string(e.Body()))
		assert.Equal(t, 7, e.RateLimit.Remaining)
		e.Body()[0], e.RateLimit.Remaining = 'x', -1
	}
	assert.Len(t, s.seen(), 1)
}

// Also where no number of failures stops a batch, another run begins with those that came last.
func TestFailuresThatNeverStopABatchAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.answer = func(asked string, _ int) (*http.Response, error) {
			if asked >= ruc(10) {
				return raw(501, "")(nil)
			}
			return nil, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stopped *fiscope.LoteDetenido
		for l, err := range newClient(t, p).Contribuyentes.ConsultarLote(ctx, rucs(100), fiscope.LotePolicy{MaxFailures: -1, Concurrency: 1}) {
			if l.Posicion == 60 {
				cancel()
			}
			errors.As(err, &stopped)
		}
		require.NotNil(t, stopped)
		assert.Equal(t, 10, stopped.Posicion)
	})
}
