package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

// padron is a service that has every RUC, and counts.
type padron struct {
	record string
	delay  func(ruc string) time.Duration
	answer func(ruc string, n int) (*http.Response, error) // nil for the record; n counts the requests of that RUC from 1

	mu       sync.Mutex
	asked    map[string]int
	requests int
}

func newPadron(t testing.TB) *padron {
	return &padron{record: contract(t, "consultar_200.json"), asked: map[string]int{}}
}

func (p *padron) RoundTrip(r *http.Request) (*http.Response, error) {
	ruc := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	p.mu.Lock()
	p.asked[ruc]++
	p.requests++
	n := p.asked[ruc]
	p.mu.Unlock()
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

// answering makes the service answer so to the RUCs from one on, for that long.
func (p *padron) answering(from string, during time.Duration, answer func(*http.Request) (*http.Response, error)) {
	end := time.Now().Add(during)
	p.answer = func(ruc string, _ int) (*http.Response, error) {
		if ruc >= from && time.Now().Before(end) {
			return answer(nil)
		}
		return nil, nil
	}
}

const forGood = 1000 * time.Hour

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
	fiscope.LineaLote[string, fiscope.Contribuyente]
	err error
}

// all takes the lines of a batch, and how it stopped.
func all(seq iter.Seq2[fiscope.LineaLote[string, fiscope.Contribuyente], error]) (lines []line, stopped *fiscope.LoteDetenidoError) {
	for l, err := range seq {
		if errors.As(err, &stopped) {
			continue
		}
		lines = append(lines, line{l, err})
	}
	return lines, stopped
}

// answered asserts that these positions, and no others, have an answer of the service.
func answered(t *testing.T, lines []line, from, to int) {
	t.Helper()
	var got []int
	for _, l := range lines {
		if l.err == nil && !l.Response.Stale && !l.Response.FromRespaldo {
			assert.Equal(t, l.Entrada, l.Resultado.RUC)
			got = append(got, l.Posicion)
		}
	}
	slices.Sort(got)
	var want []int
	for n := from; n < to; n++ {
		want = append(want, n)
	}
	assert.Equal(t, want, got)
}

func TestABatchGoesOnAfterTenSecondsOfAnOutage(t *testing.T) {
	left := []string{"X-RateLimit-Remaining: 900", "X-RateLimit-Reset: 2000-01-02T00:00:00Z"} // synctest begins the day before
	for name, down := range map[string]func(*http.Request) (*http.Response, error){
		"502":                  raw(502, "<html>Bad Gateway"),
		"503 in maintenance":   raw(503, "", "Retry-After: 5"),
		"no connection":        broken(errors.New("connection refused")),
		"a firewall's page":    raw(403, "<html>blocked", "Content-Type: text/html"),
		"a proxy's bare 429":   raw(429, "<html>slow down", "Content-Type: text/html"),
		"the service's, as it": raw(429, `{"error":"Demasiadas consultas","code":"TOO_MANY_REQUESTS"}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, end := newPadron(t), time.Now().Add(15*time.Second)
				p.delay = func(string) time.Duration { return 50 * time.Millisecond }
				p.answer = func(of string, _ int) (*http.Response, error) {
					if of >= ruc(793) && time.Now().Before(end) {
						return down(nil)
					}
					return raw(200, strings.Replace(p.record, rucSUNAT, of, 1), left...)(nil)
				}
				lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(2000), fiscope.LotePolicy{}))
				require.Nil(t, stopped)
				answered(t, lines, 0, 2000)
				assert.Len(t, lines, 2000)
			})
		})
	}
}

// Answers of the cache between failures neither hide an outage nor end it.
func TestAnOutageOfABatchThatIsHalfCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{}))
		for n := 0; n < 200; n += 2 {
			_, err := client.Contribuyentes.Consultar(t.Context(), ruc(n))
			require.NoError(t, err)
		}
		p.answering(ruc(0), 10*time.Second, raw(501, ""))
		lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(200), fiscope.LotePolicy{}))
		require.Nil(t, stopped)
		answered(t, lines, 0, 200)
	})
}

func TestABatchGivesUpAfterTenMinutes(t *testing.T) {
	for name, test := range map[string]struct {
		down   func(*http.Request) (*http.Response, error)
		policy fiscope.LotePolicy
		reason error
		lines  int // delivered
		takes  time.Duration
	}{
		"an outage":             {raw(501, ""), fiscope.LotePolicy{}, fiscope.ErrUnavailable, 40, 10 * time.Minute},
		"a bare 429 for good":   {raw(429, ""), fiscope.LotePolicy{}, fiscope.ErrQuotaExceeded, 40, 10 * time.Minute},
		"... also without them": {raw(429, ""), fiscope.LotePolicy{MaxFailures: -1}, fiscope.ErrQuotaExceeded, 40, 10 * time.Minute},
		"another page":          {raw(200, "<html>"), fiscope.LotePolicy{MaxFailures: 6}, fiscope.ErrMalformedResponse, 46, 0},
		"a redirect":            {raw(302, "", "Location: https://x.example/"), fiscope.LotePolicy{MaxFailures: 6}, fiscope.ErrRedirect, 46, 0},
		"refusals":              {raw(400, `{"error":"no","code":"OTHER"}`), fiscope.LotePolicy{}, fiscope.ErrInvalidRequest, 60, 0},
		"nobody has them":       {raw(404, `{"error":"no","code":"NOT_FOUND"}`), fiscope.LotePolicy{MaxFailures: 6}, nil, 100, 0},
		"it does not matter":    {raw(501, ""), fiscope.LotePolicy{MaxFailures: -1}, nil, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answering(ruc(40), forGood, test.down)
				start := time.Now()
				test.policy.Concurrency = 1
				client := newClient(t, p, fiscope.WithoutQuotaGate())
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), test.policy))
				assert.Len(t, lines, test.lines)
				answered(t, lines, 0, 40)
				assert.Equal(t, test.takes, time.Since(start))
				assert.Less(t, p.sent(), 100+1)
				if test.reason == nil {
					require.Nil(t, stopped)
					return
				}
				require.ErrorIs(t, stopped, test.reason)
				require.ErrorContains(t, stopped, "stopped before position 40: Contribuyentes.Consultar: ")
				assert.Equal(t, 40, stopped.Posicion)

				p.answer = nil
				lines, stopped = all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{From: stopped.Posicion}))
				require.Nil(t, stopped)
				answered(t, lines, 40, 100)
			})
		})
	}
}

// One input that fails between others is delivered as failed, and stops nobody.
func TestAFailureOfOneInputIsItsAlone(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   error
	}{
		"a firewall's page":     {raw(403, "<html><title>403 Forbidden</title>", "Content-Type: text/html"), nil},
		"the service's refusal": {raw(403, `{"error":"No autorizado","code":"FORBIDDEN"}`), fiscope.ErrUnauthorized},
		"502":                   {raw(502, ""), fiscope.ErrUnavailable},
		"another page":          {raw(200, "<html>"), fiscope.ErrMalformedResponse},
		"no answer":             {broken(errors.New("reset")), fiscope.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answer = func(r string, _ int) (*http.Response, error) {
					if r == ruc(7) {
						return test.answer(nil)
					}
					return nil, nil
				}
				lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(40), fiscope.LotePolicy{}))
				require.Nil(t, stopped)
				require.Len(t, lines, 40)
				for _, l := range lines {
					assert.Equal(t, l.Posicion == 7, l.err != nil)
					if l.err != nil && test.want != nil {
						require.ErrorIs(t, l.err, test.want)
					}
				}
			})
		})
	}
}

func TestABatchStopsAtWhatHoldsForAll(t *testing.T) {
	tomorrow := "X-RateLimit-Reset: " + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339)
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   error
	}{
		"the key is refused":   {raw(401, ""), fiscope.ErrUnauthorized},
		"... as forbidden":     {raw(403, `{"error":"La clave de API no es válida"}`), fiscope.ErrUnauthorized},
		"the quota is spent":   {raw(429, "", "X-RateLimit-Remaining: 0", tomorrow), fiscope.ErrQuotaExceeded},
		"come back in an hour": {raw(429, "", "Retry-After: 3600"), fiscope.ErrQuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPadron(t)
			p.answering(ruc(0), forGood, test.answer)
			inputs := append([]string{"no es un RUC", ""}, slices.Collect(rucs(50))...)
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, test.want)
			assert.Equal(t, 2, stopped.Posicion)
			assert.Equal(t, 1, p.sent(), "one query goes until the service answered one")
			require.Len(t, lines, 2)
			require.ErrorIs(t, lines[0].err, fiscope.ErrInvalidRequest)
		})
	}
}

func TestABatchThatIsTooFastGoesOnMoreSlowly(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
		pause   time.Duration
	}{
		"no header":        {nil, time.Minute},
		"queries are left": {[]string{"X-RateLimit-Remaining: 500", "X-RateLimit-Reset: 2000-01-02T00:00:00Z"}, time.Minute},
		"seconds":          {[]string{"Retry-After: 20"}, 20 * time.Second},
		"minutes":          {[]string{"Retry-After: 300"}, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answer = func(r string, n int) (*http.Response, error) {
					if r == ruc(5) && n == 1 {
						return raw(429, "", test.headers...)(nil)
					}
					return nil, nil
				}
				start := time.Now()
				client := newClient(t, p, fiscope.WithoutQuotaGate())
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(20), fiscope.LotePolicy{Concurrency: 1}))
				require.Nil(t, stopped)
				answered(t, lines, 0, 20)
				assert.Equal(t, 21, p.sent())
				assert.Equal(t, test.pause, time.Since(start))
			})
		})
	}
}

func TestABatchStopsAtTheQuotasEndAndTheNextGoesOn(t *testing.T) {
	for reserve, first := range map[int]int{0: 100, 40: 60} {
		t.Run(fmt.Sprint("with a reserve of ", reserve), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				left, reset := 100, time.Now().Add(24*time.Hour).UTC()
				p := newPadron(t)
				p.delay = aSecond
				p.answer = func(ruc string, _ int) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					left--
					headers := []string{fmt.Sprint("X-RateLimit-Remaining: ", max(0, left)), "X-RateLimit-Reset: " + reset.Format(time.RFC3339)}
					if left < 0 {
						return raw(429, "", headers...)(nil)
					}
					return raw(200, strings.Replace(p.record, rucSUNAT, ruc, 1), headers...)(nil)
				}
				client := newClient(t, p)
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(300), fiscope.LotePolicy{}, fiscope.WithQuotaReserve(reserve)))
				require.ErrorIs(t, stopped, fiscope.ErrQuotaExceeded)
				assert.Len(t, lines, first, "every query that is left is used, and its result delivered")
				assert.Equal(t, first, p.sent())

				time.Sleep(time.Until(reset))
				left, reset = 1000, time.Now().Add(24*time.Hour).UTC()
				from := stopped.Posicion
				lines, stopped = all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(300), fiscope.LotePolicy{From: from}))
				require.Nil(t, stopped)
				answered(t, lines, from, 300)
			})
		})
	}
}

// enRespaldo has every RUC.
type enRespaldo struct{}

func (enRespaldo) Contribuyente(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	return &fiscope.Contribuyente{RUC: ruc, RazonSocial: "X", Estado: "ACTIVO", Condicion: "HABIDO"}, viernes, nil
}

// The business goes on with what stands in for the service, and an outage is noticed: it is waited for once, its lines
// are marked, and they are recorded by nobody.
func TestABatchWithSomethingToStandIn(t *testing.T) {
	down, spent := raw(501, ""), raw(429, "", "Retry-After: 3600")
	for name, test := range map[string]struct {
		answer  func(*http.Request) (*http.Response, error)
		during  time.Duration
		most    int    // MaxFailures
		standIn [2]int // how many lines something stands in for, at least and at most
		reason  error
		takes   time.Duration // and less than a minute more
	}{
		"ten seconds":                  {down, 10 * time.Second, 0, [2]int{5, 15}, nil, 10 * time.Second},
		"an outage":                    {down, forGood, 0, [2]int{5, 25}, fiscope.ErrUnavailable, 10 * time.Minute},
		"... that does not matter":     {down, forGood, -1, [2]int{60, 60}, nil, 0},
		"a spent quota":                {spent, forGood, 5, [2]int{5, 5}, fiscope.ErrQuotaExceeded, 0},
		"... that does not matter too": {spent, forGood, -1, [2]int{60, 60}, nil, 0},
	} {
		for _, by := range []string{"a Respaldo", "the cache"} {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, n := newPadron(t), &notes{}
					opts := []fiscope.Option{fiscope.WithoutQuotaGate(), fiscope.WithRespaldo(enRespaldo{})}
					if by == "the cache" {
						opts[1] = fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Second, StaleIfError: 48 * time.Hour})
					}
					client := newClient(t, p, opts...)
					all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{}))
					time.Sleep(24 * time.Hour)
					p.answering(ruc(40), test.during, test.answer)
					start, policy := time.Now(), fiscope.LotePolicy{Concurrency: 1, MaxFailures: test.most, Progress: n}
					lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), policy))
					took := time.Since(start)
					assert.True(t, took >= test.takes && took < test.takes+time.Minute, took)
					marked := 0
					for _, l := range lines {
						require.NoError(t, l.err)
						if l.Response.Stale || l.Response.FromRespaldo {
							marked++
						}
					}
					assert.True(t, marked >= test.standIn[0] && marked <= test.standIn[1], marked)
					assert.Len(t, n.recorded, len(lines)-marked)
					if test.reason == nil {
						require.Nil(t, stopped)
						assert.Len(t, lines, 100)
						return
					}
					require.ErrorIs(t, stopped, test.reason)
					assert.Equal(t, 40, stopped.Posicion)
				})
			})
		}
	}
}

// A job of cron has half a minute, and the limiter lets 2 queries a second go.
func TestWhatADeadlineLeavesUnsentIsNotDelivered(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{
		"alone": nil, "coalesced": {fiscope.WithCoalescing()}, "cached": {fiscope.WithCache(fiscope.CachePolicy{})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.delay = func(string) time.Duration { return 700 * time.Millisecond }
				client := newClient(t, p, append(opts, fiscope.WithRateLimit(2, 1))...)
				var lines []line
				for from, runs := 0, 0; ; runs++ {
					require.Less(t, runs, 20)
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					of, stopped := all(client.Contribuyentes.ConsultarLote(ctx, rucs(300), fiscope.LotePolicy{From: from}))
					cancel()
					lines = append(lines, of...)
					if stopped == nil {
						break
					}
					require.ErrorIs(t, stopped, context.DeadlineExceeded)
					assert.Equal(t, "deadline_exceeded", fiscope.ErrorClass(stopped))
					from = stopped.Posicion
				}
				positions := map[int]bool{}
				for _, l := range lines {
					require.NoError(t, l.err)
					positions[l.Posicion] = true
				}
				assert.Len(t, positions, 300)
			})
		})
	}
}

// What was sent is paid: with a cache its answer is kept, so that the next run has it.
func TestToBreakOutWithACacheBringsHomeWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		client := newClient(t, p, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithRateLimit(rate.Every(time.Minute), 4))
		for l := range client.Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{}) {
			if l.Posicion == 0 {
				time.Sleep(time.Second / 2) // a few are sent, and a few wait for the limiter
			}
			break
		}
		require.NoError(t, client.Close(t.Context()))
		assert.Less(t, p.sent(), 9, "what was not sent is abandoned")
		before := p.sent()
		for n := range before {
			_, err := client.Contribuyentes.Consultar(t.Context(), ruc(n))
			require.NoError(t, err)
		}
		assert.Equal(t, before, p.sent())
	})
}

func TestALineSaysWhatIsKnownOfItsAnswer(t *testing.T) {
	odd := strings.Replace(contract(t, "consultar_200.json"), rucSUNAT, rucEmisor, 1)
	client := newClient(t, roundTripper(raw(200, odd, "X-Request-Id: 7")), fiscope.WithLenientReading())
	lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT, "x"}), fiscope.LotePolicy{Concurrency: 1}))
	require.Nil(t, stopped)
	require.Len(t, lines, 3)
	first, again := lines[0], lines[1]
	assert.Equal(t, "7", first.Response.Header.Get("X-Request-Id"))
	assert.Equal(t, 1, first.Response.Attempts)
	assert.True(t, again.Repetido)
	assert.Equal(t, 200, again.Response.StatusCode)
	assert.Equal(t, first.Response.Warnings, again.Response.Warnings, "another taxpayer's record")
	assert.Empty(t, again.Response.Header)
	assert.Zero(t, again.Response.Attempts)
	assert.Equal(t, first.Resultado, again.Resultado)
	assert.NotSame(t, first.Resultado, again.Resultado)
	first.Response.Warnings[0] = "changed"
	assert.NotEqual(t, "changed", again.Response.Warnings[0])
	assert.Zero(t, lines[2].Response.StatusCode)

	client, _ = answers(t, raw(404, contract(t, "consultar_404.json")))
	lines, _ = all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT, rucSUNAT}), fiscope.LotePolicy{}))
	require.Len(t, lines, 2)
	for _, l := range lines {
		var e *fiscope.Error
		require.ErrorAs(t, l.err, &e)
		assert.Equal(t, contract(t, "consultar_404.json"), string(e.Body()))
		e.Body()[0] = 'x' // its own
	}
}

func TestAQueryOfABatchThatPanicsIsAFailureOfItsLine(t *testing.T) {
	p := newPadron(t)
	p.answer = func(r string, _ int) (*http.Response, error) {
		if r == ruc(3) {
			panic("boom " + apiKey)
		}
		return nil, nil
	}
	var log strings.Builder
	client := newClient(t, p, fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{}))
	require.Nil(t, stopped)
	require.Len(t, lines, 9)
	for _, l := range lines {
		if l.Posicion != 3 {
			require.NoError(t, l.err)
			continue
		}
		require.ErrorContains(t, l.err, "(not shown: it repeats a credential)")
		assert.NotContains(t, l.err.Error(), apiKey)
	}
	assert.Equal(t, 1, strings.Count(log.String(), "a call panicked in the background"))
	assert.Contains(t, log.String(), "lote_test.go", "the stack of who panicked")
}

func TestABatchIsRefusedLocally(t *testing.T) {
	p := newPadron(t)
	client := newClient(t, p)
	read := false
	inputs := func(yield func(string) bool) {
		read = true
		yield(rucSUNAT)
	}
	var resp fiscope.Response
	for name, batch := range map[string]iter.Seq2[fiscope.LineaLote[string, fiscope.Contribuyente], error]{
		"concurrency": client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{Concurrency: -1}),
		"from":        client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{From: -1}),
		"a response":  client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}, fiscope.WithResponse(&resp)),
		"nil option":  client.Contribuyentes.ConsultarLote(t.Context(), inputs, fiscope.LotePolicy{}, nil),
		//lint:ignore SA1012 the point of the test
		"nil context": client.Contribuyentes.ConsultarLote(nil, inputs, fiscope.LotePolicy{}), //nolint:staticcheck // the point of the test
	} {
		lines, stopped := all(batch)
		assert.Empty(t, lines, name)
		require.ErrorIs(t, stopped, fiscope.ErrInvalidRequest, name)
		var e *fiscope.Error
		require.ErrorAs(t, stopped, &e, name)
		assert.Equal(t, fiscope.OpConsultarLote, e.Op)
	}
	withoutClave := credenciales
	withoutClave.Clave = fiscope.Secreto{}
	for _, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura}), withoutClave, fiscope.LotePolicy{}) {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	}
	assert.False(t, read)
	assert.Zero(t, p.sent())
}
