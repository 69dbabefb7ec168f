package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
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
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

// padron is a service that has every RUC, and counts.
type padron struct {
	delay  func(ruc string) time.Duration
	answer func(ruc string, n int) (*http.Response, error) // nil for the record; n counts the requests of that RUC from 1

	mu       sync.Mutex
	asked    map[string]int
	requests int
}

func newPadron() *padron { return &padron{asked: map[string]int{}} }

func (p *padron) RoundTrip(r *http.Request) (*http.Response, error) {
	ruc := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	p.mu.Lock()
	p.asked[ruc]++
	p.requests++
	n := p.asked[ruc]
	p.mu.Unlock()
	answer := func(r *http.Request) (*http.Response, error) {
		if p.answer != nil {
			if resp, err := p.answer(ruc, n); resp != nil || err != nil {
				return resp, err
			}
		}
		return raw(200, change(record, rucSUNAT, ruc))(r)
	}
	if p.delay != nil {
		return after(p.delay(ruc), answer)(r)
	}
	return answer(r)
}

func (p *padron) sent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// answering makes the service answer so to the RUCs from one on, for that long.
func (p *padron) answering(from string, during time.Duration, answer handler) {
	end := time.Now().Add(during)
	p.answer = func(ruc string, _ int) (*http.Response, error) {
		if ruc >= from && time.Now().Before(end) {
			return answer(nil)
		}
		return nil, nil
	}
}

const forGood = 1000 * time.Hour

func ruc(n int) string { return fmt.Sprintf("20%09d", n) }

// rucs are n different ones.
func rucs(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < n && yield(ruc(i)); i++ {
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
		if l.err == nil && !standIn(l.Response) {
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

// One input that fails between others is delivered as failed, and stops nobody.
func TestAFailureOfOneInputIsItsAlone(t *testing.T) {
	for name, test := range map[string]struct {
		answer handler
		want   error
	}{
		"a firewall's page":     {raw(403, "<html><title>403 Forbidden</title>", "Content-Type: text/html"), nil},
		"the service's refusal": {raw(403, `{"error":"No autorizado","code":"FORBIDDEN"}`), fiscope.ErrUnauthorized},
		"502":                   {raw(502, ""), fiscope.ErrUnavailable},
		"another page":          {raw(200, "<html>"), fiscope.ErrMalformedResponse},
		"no answer":             {broken(errors.New("reset")), fiscope.ErrUnavailable},
	} {
		inBubble(t, name, func(t *testing.T) {
			p := newPadron()
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
	}
}

func TestABatchStopsAtWhatHoldsForAll(t *testing.T) {
	tomorrow := "X-RateLimit-Reset: " + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339)
	for name, test := range map[string]struct {
		answer handler
		want   error
	}{
		"the key is refused":   {raw(401, ""), fiscope.ErrUnauthorized},
		"... as forbidden":     {raw(403, `{"error":"La clave de API no es válida"}`), fiscope.ErrUnauthorized},
		"the quota is spent":   {raw(429, "", "X-RateLimit-Remaining: 0", tomorrow), fiscope.ErrQuotaExceeded},
		"come back in an hour": {raw(429, "", "Retry-After: 3600"), fiscope.ErrQuotaExceeded},
		"a code says so":       {raw(429, `{"error":"x","code":"CuotaAgotada"}`), fiscope.ErrQuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPadron()
			p.answering(ruc(0), forGood, test.answer)
			inputs := append([]string{"no es un RUC", ""}, slices.Collect(rucs(50))...)
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, test.want)
			assert.Equal(t, 2, stopped.Siguiente)
			assert.Equal(t, 1, p.sent(), "one query goes until the service answered one")
			require.Len(t, lines, 2)
			require.ErrorIs(t, lines[0].err, fiscope.ErrInvalidRequest)
		})
	}
}

func TestABatchThatIsTooFastGoesOnMoreSlowly(t *testing.T) {
	for name, test := range map[string]struct {
		headers       []string
		during, pause time.Duration
		sent          int
	}{
		"no header":        {nil, 1, time.Second, 21},
		"queries are left": {[]string{"X-RateLimit-Remaining: 500", "X-RateLimit-Reset: 2000-01-02T00:00:00Z"}, 1, time.Minute, 21},
		"seconds":          {[]string{"Retry-After: 20"}, 1, 20 * time.Second, 21},
		"... and longer":   {[]string{"Retry-After: 1"}, 5 * time.Second, 7 * time.Second, 23},
		"minutes":          {[]string{"Retry-After: 300"}, 1, 5 * time.Minute, 21},
	} {
		inBubble(t, name, func(t *testing.T) {
			p := newPadron()
			p.answering(ruc(5), test.during, raw(429, "", test.headers...))
			start := time.Now()
			client := newClient(t, p, fiscope.WithoutQuotaGate(), fiscope.WithMaxRetries(0))
			lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(20), fiscope.LotePolicy{Concurrency: 1}))
			require.Nil(t, stopped)
			answered(t, lines, 0, 20)
			assert.Equal(t, test.sent, p.sent())
			assert.Equal(t, test.pause, time.Since(start))
			s := &sunat{answer: func(numero, times int) handler {
				if numero == 6 && times == 1 {
					return raw(429, "", test.headers...)
				}
				return nil
			}}
			_, _ = allReceipts(t, newClient(t, s, fiscope.WithoutQuotaGate()).CPE.ValidarLote(t.Context(), receipts(20), credenciales, fiscope.LotePolicy{}))
			assert.Equal(t, 21, s.sent(), "so is a receipt")
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
		answer  handler
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
			inBubble(t, name+", "+by, func(t *testing.T) {
				p, n := newPadron(), &notes{}
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
					if standIn(l.Response) {
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
				assert.Equal(t, 40, stopped.Siguiente)
			})
		}
	}
}

func TestALineSaysWhatIsKnownOfItsAnswer(t *testing.T) {
	odd := strings.Replace(contract(t, "consultar_200.json"), rucSUNAT, rucEmisor, 1)
	client := newClient(t, raw(200, odd, "X-Request-Id: 7"), fiscope.WithLenientReading())
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
	p := newPadron()
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
	p := newPadron()
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

var randomBatches = flag.Int("batches", 100, "how many batches TestRandomBatches resumes to their end")

// unsteady is a service with outages, errors, throttling, and a quota, until it is made steady.
type unsteady struct {
	mu     sync.Mutex
	random *rand.Rand
	rate   map[string]float64 // of what goes wrong
	steady bool
	broken int            // requests for which the outage lasts
	paid   map[string]int // answers by RUC
}

// draw reports whether something goes wrong. It is called with the lock held.
func (u *unsteady) draw(what string) bool { return !u.steady && u.random.Float64() < u.rate[what] }

func (u *unsteady) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	delay := time.Duration(u.random.IntN(1000)) * time.Millisecond
	if u.draw("slow") {
		delay *= 20
	}
	u.mu.Unlock()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	ruc := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if u.draw("outage") {
		u.broken = u.random.IntN(100)
	}
	if u.broken--; !u.steady && u.broken > 0 {
		return raw(503, "")(r)
	}
	switch {
	case u.draw("reset"):
		return nil, errors.New("connection reset")
	case u.draw("error"):
		return raw(500, "")(r)
	case u.draw("wall"):
		return raw(403, []string{"<html>blocked", "\ufeff<html>blocked", "blocked", ""}[u.random.IntN(4)])(r)
	case u.draw("throttled"):
		return raw(429, "", "Retry-After: 2")(r)
	case u.draw("spent"):
		return raw(429, "")(r)
	}
	u.paid[ruc]++
	if ruc[10] == '7' {
		return raw(404, `{"error":"no","code":"NOT_FOUND"}`)(r)
	}
	return raw(200, change(record, rucSUNAT, ruc))(r)
}

// again returns how many answers were paid more than once.
func (u *unsteady) again() (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, times := range u.paid {
		n += times - 1
	}
	return n
}

// Batches of random inputs, policies, clients and troubles are resumed until they end, however each run did:
// by itself, its deadline, a cancel, a break, or a kill before a line was stored. No input is lost, and with a Progress
// no run leaves more than its Concurrency to be paid again.
func TestRandomBatches(t *testing.T) {
	for seed := range uint64(*randomBatches) {
		synctest.Test(t, func(t *testing.T) { randomBatch(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBatch(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 15))
	one := func(of ...int) int { return of[random.IntN(len(of))] }
	u := &unsteady{random: rand.New(rand.NewPCG(seed, 16)), rate: map[string]float64{}, paid: map[string]int{}}
	for what, most := range map[string]float64{"slow": 0.1, "outage": 0.05, "reset": 0.1, "error": 0.2, "wall": 0.1, "throttled": 0.1, "spent": 0.02} {
		if random.IntN(3) == 0 {
			u.rate[what] = most
		}
	}
	progress := random.IntN(2) == 0
	inputs := slices.Collect(rucs(1 + random.IntN(150)))
	for range one(0, 0, 30) {
		inputs[random.IntN(len(inputs))] = "x"
	}
	if progress { // a From alone does not know what earlier runs were answered
		for range one(0, 30) {
			inputs = append(inputs, inputs[random.IntN(len(inputs))])
		}
	}
	opts := []fiscope.Option{fiscope.WithoutQuotaGate()}
	if random.IntN(2) == 0 {
		opts = append(opts, fiscope.WithRateLimit(rate.Limit(1+random.IntN(10)), 1+random.IntN(5)))
	}
	switch random.IntN(4) {
	case 0:
		opts = append(opts, fiscope.WithCoalescing())
	case 1:
		opts = append(opts, fiscope.WithCache(fiscope.CachePolicy{}))
	case 2:
		opts = append(opts, fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Minute, StaleIfError: time.Duration(random.IntN(48)) * time.Hour}))
	}
	client := newClient(t, u, opts...)
	policy := fiscope.LotePolicy{Concurrency: 1 + random.IntN(12), MaxFailures: one(0, 0, 2, 30, -1)}
	n := &notes{}
	if progress {
		policy.Progress = n
	}
	said := fmt.Sprintf("seed %d: %+v, %v", seed, policy, u.rate)

	answered, failed, lines := map[string]bool{}, map[string]bool{}, make([]bool, len(inputs))
	calm := 0
	for run := 0; ; run++ {
		if run == 12 { // in the end all is well
			u.mu.Lock()
			u.steady = true
			u.mu.Unlock()
		}
		ended := randomRun(t, client, &policy, inputs, random, u.steady, func(l fiscope.LineaLote[string, fiscope.Contribuyente], err error) {
			require.Equal(t, inputs[l.Posicion], l.Entrada, said)
			require.Equal(t, err == nil, l.Resultado != nil, said)
			lines[l.Posicion] = true
			if !progress {
				require.NotContains(t, lines[:l.Siguiente], false, said)
			}
			if err == nil && !standIn(l.Response) || errors.Is(err, fiscope.ErrNotFound) {
				answered[l.Entrada] = true
				return
			}
			failed[l.Entrada] = true
			require.NotErrorIs(t, err, context.Canceled, said)
			if e := (*fiscope.Error)(nil); errors.As(err, &e) && l.Entrada != "x" {
				require.NotEqual(t, fiscope.DeliveryNotSent, e.Delivery, "%s: %d: %v", said, l.Posicion, err)
			}
		})
		if progress { // what each of the runs before this one may have left unrecorded
			require.LessOrEqual(t, u.again(), policy.Concurrency*run, "%s: run %d", said, run)
		}
		if ended && u.steady {
			if calm++; calm == 2 { // in the first one, stale answers may serve until a probe finds that all is well
				break
			}
		}
		if ended { // another round over what failed
			if policy.From = 0; !progress {
				u.steady = true
				break
			}
		}
		require.Less(t, run, 500, said)
		time.Sleep(time.Hour)
	}
	for position, input := range inputs {
		switch {
		case input == "x":
			require.True(t, lines[position], "%s: %d", said, position)
		case progress:
			require.True(t, answered[input], "%s: %s is lost", said, input)
		default:
			require.True(t, lines[position] && (answered[input] || failed[input]), "%s: %d is lost", said, position)
		}
	}
}

// randomRun is one run, which ends at random. store gets each line that its consumer stored. It returns whether
// the batch came to its end, and otherwise leaves in the policy where the next one goes on.
func randomRun(t *testing.T, client *fiscope.Client, policy *fiscope.LotePolicy, inputs []string, random *rand.Rand, steady bool, store func(fiscope.LineaLote[string, fiscope.Contribuyente], error)) (ended bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end, at := random.IntN(5), random.IntN(60)
	if steady {
		end = -1
	}
	switch limit := time.Duration(random.IntN(30_000)) * time.Millisecond; end {
	case 0:
		var release context.CancelFunc
		ctx, release = context.WithTimeout(ctx, limit)
		defer release()
	case 1:
		defer time.AfterFunc(limit, cancel).Stop()
	}
	next := policy.From
	defer func() {
		if killed := recover(); killed != nil && killed != "killed" {
			panic(killed)
		}
		if policy.Progress == nil {
			policy.From = next
		}
	}()
	taken := 0
	for l, err := range client.Contribuyentes.ConsultarLote(ctx, slices.Values(inputs), *policy) {
		var stopped *fiscope.LoteDetenidoError
		if errors.As(err, &stopped) {
			require.Equal(t, l.Siguiente, stopped.Siguiente)
			next = stopped.Siguiente
			return false
		}
		taken++
		if end == 2 && taken > at {
			panic("killed") // before it was stored
		}
		store(l, err)
		next = l.Siguiente
		if end == 3 && taken > at {
			return false
		}
		if random.IntN(10) == 0 {
			time.Sleep(time.Second)
		}
	}
	return true
}

// Inputs in a row that always fail block nobody: one run answers all others, and takes at most three times a healthy
// run, or five minutes more.
func TestInputsInARowThatAlwaysFail(t *testing.T) {
	const total, latency = 1500, 100 * time.Millisecond
	for name, fails := range map[string]handler{
		"500":       raw(500, `{"error":"SUNAT no responde","code":"SUNAT_TIMEOUT"}`),
		"503":       after(latency, raw(503, "")),
		"a reset":   after(latency, broken(errors.New("connection reset"))),
		"no answer": hangs,
	} {
		for _, row := range [][2]int{{740, 752}, {740, 770}, {740, 940}, {0, 14}, {total - 8, total}} {
			if long := row[1]-row[0] == 200; long && name == "no answer" || !long && (name == "503" || name == "a reset") {
				continue // 200 timeouts, eight at a time, take longer by themselves; the others fail as 500 does
			}
			check := func(t *testing.T, failed []int, lines int, stopped *fiscope.LoteDetenidoError, start time.Time) {
				t.Helper()
				require.Nil(t, stopped)
				assert.Equal(t, total, lines)
				slices.Sort(failed)
				var want []int
				for position := row[0]; position < row[1]; position++ {
					want = append(want, position)
				}
				assert.Equal(t, want, failed)
				assert.LessOrEqual(t, time.Since(start), total*latency/8+5*time.Minute)
			}
			inBubble(t, fmt.Sprint(name, " RUC ", row), func(t *testing.T) {
				p, start := newPadron(), time.Now()
				rt := handler(func(r *http.Request) (*http.Response, error) {
					of := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
					if of >= ruc(row[0]) && of < ruc(row[1]) {
						return fails(r)
					}
					return after(latency, p.RoundTrip)(r)
				})
				var failed []int
				lines, stopped := all(newClient(t, rt).Contribuyentes.ConsultarLote(t.Context(), rucs(total), fiscope.LotePolicy{}))
				for _, l := range lines {
					if l.err != nil {
						failed = append(failed, l.Posicion)
					}
				}
				check(t, failed, len(lines), stopped, start)
				assert.Equal(t, total-len(failed), p.sent(), "what was answered is not asked again")
			})
			inBubble(t, fmt.Sprint(name, " CPE ", row), func(t *testing.T) {
				start := time.Now()
				s := &sunat{answer: func(numero, _ int) handler {
					if numero > row[0] && numero <= row[1] {
						return fails
					}
					return nil
				}}
				var failed []int
				lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(total), credenciales, fiscope.LotePolicy{}))
				for position, err := range lines {
					if err != nil {
						failed = append(failed, position)
					}
					if err == nil || strings.Contains(err.Error(), "may have received it") {
						assert.Equal(t, 1, s.times[position+1], position)
					}
				}
				check(t, failed, len(lines), stopped, start)
			})
		}
	}
}

// An outage without end costs as many requests as it did when every probe took the next input.
func TestTheRequestsOfAnOutage(t *testing.T) {
	for from, most := range map[int]struct{ rucs, receipts int }{0: {31, 20}, 750: {41, 27}} { // 10 repetitions of the client, and 1 of a first failure
		synctest.Test(t, func(t *testing.T) {
			p := newPadron()
			p.delay = func(string) time.Duration { return time.Second / 10 }
			p.answering(ruc(from), forGood, raw(503, ""))
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(1500), fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
			assert.LessOrEqual(t, p.sent()-from, most.rucs)
			assert.Len(t, lines, from)

			s := &sunat{answer: func(numero, _ int) handler {
				if numero > from {
					return raw(500, "")
				}
				return nil
			}}
			receipts, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(1500), credenciales, fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
			assert.LessOrEqual(t, s.sent()-from, most.receipts)
			// What fails twice while others are still answered is delivered with its error.
			assert.GreaterOrEqual(t, len(receipts), from)
			assert.LessOrEqual(t, len(receipts), from+8)
		})
	}
}

// receipts are n different ones, numbered from 1 on.
func receipts(n int) iter.Seq[fiscope.Comprobante] {
	return func(yield func(fiscope.Comprobante) bool) {
		c := factura
		for c.Numero = 1; c.Numero <= n && yield(c); c.Numero++ {
		}
	}
}

// allReceipts takes the lines of a batch, each as its position and error, and how it stopped.
func allReceipts(t *testing.T, seq iter.Seq2[fiscope.LineaLote[fiscope.Comprobante, fiscope.ResultadoCPE], error]) (lines map[int]error, stopped *fiscope.LoteDetenidoError) {
	t.Helper()
	lines = map[int]error{}
	for l, err := range seq {
		if !errors.As(err, &stopped) {
			assert.NotContains(t, lines, l.Posicion, "a line comes once")
			assert.Equal(t, err == nil, l.Resultado != nil)
			lines[l.Posicion] = err
		}
	}
	return lines, stopped
}

// sunat is an authority that answers for receipts, by their number, and counts.
type sunat struct {
	answer func(numero, times int) handler // nil: accepted, after a tenth of a second

	mu    sync.Mutex
	times map[int]int
}

func (s *sunat) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked fiscope.Comprobante
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.times == nil {
		s.times = map[int]int{}
	}
	s.times[asked.Numero]++
	n := s.times[asked.Numero]
	s.mu.Unlock()
	if answer := s.answer(asked.Numero, n); answer != nil {
		return answer(r)
	}
	return after(time.Second/10, accepted)(r)
}

func (s *sunat) sent() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.times {
		n += times
	}
	return n
}

func codigo(codigo, estado string) handler {
	return raw(200, fmt.Sprintf(`{"codigo":%q,"mensaje":"x","estado":%q,"esValido":%t}`, codigo, estado, codigo == "0"))
}

var accepted = codigo("0", "Aceptado")

func TestARefusedClaveStopsABatch(t *testing.T) {
	for _, first := range []int{1, 30} {
		synctest.Test(t, func(t *testing.T) {
			s := &sunat{answer: func(numero, _ int) handler {
				if numero >= first {
					return after(time.Second, raw(401, contract(t, "validar_401.json")))
				}
				return nil
			}}
			lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(200), credenciales, fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, fiscope.ErrInvalidSOLCredentials)
			assert.NotContains(t, stopped.Error(), clave)
			assert.Len(t, lines, first-1, "what was answered is delivered")
			assert.Equal(t, first-1, stopped.Siguiente)
			assert.Less(t, s.sent(), first+8)
			if first == 1 {
				assert.Equal(t, 1, s.sent())
			}
		})
	}
}

// A receipt is recorded once it cannot change any more: the next run asks for the others again.
func TestTheProgressOfReceipts(t *testing.T) {
	for _, final := range []bool{false, true} {
		t.Run(fmt.Sprint("NoExisteEsFinal: ", final), func(t *testing.T) {
			s := &sunat{answer: func(numero, _ int) handler {
				return []handler{
					accepted, codigo("2", "Anulado"), codigo("4", "En Proceso"), codigo("98", "No Existe"), codigo("99", "Error"), raw(500, ""),
				}[numero-1]
			}}
			n, client := &notes{}, newClient(t, s)
			for range 2 {
				lines, stopped := allReceipts(t, client.CPE.ValidarLote(t.Context(), receipts(6), credenciales, fiscope.LotePolicy{Progress: n, NoExisteEsFinal: final}))
				require.Nil(t, stopped)
				require.ErrorIs(t, lines[5], fiscope.ErrUnavailable)
			}
			want := map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2}
			if final {
				want[4] = 1
			}
			assert.Equal(t, want, s.times)
		})
	}
}
