package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
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

var randomBatches = flag.Int("batches", 100, "how many batches TestRandomBatches resumes to their end")

// unsteady is a service with outages, errors, throttling, and a quota, until it is made steady.
type unsteady struct {
	mu     sync.Mutex
	random *rand.Rand
	record string
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
	return raw(200, strings.Replace(u.record, rucSUNAT, ruc, 1))(r)
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
	u := &unsteady{random: rand.New(rand.NewPCG(seed, 16)), record: contract(t, "consultar_200.json"), rate: map[string]float64{}, paid: map[string]int{}}
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
			if err == nil && !l.Response.Stale || errors.Is(err, fiscope.ErrNotFound) {
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
			require.Equal(t, l.Siguiente, stopped.Posicion)
			next = stopped.Posicion
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
	answer func(numero, times int) func(*http.Request) (*http.Response, error) // nil: accepted, after a tenth of a second

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
	return in(time.Second/10, accepted)(r)
}

func (s *sunat) sent() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.times {
		n += times
	}
	return n
}

func codigo(codigo, estado string) func(*http.Request) (*http.Response, error) {
	return raw(200, fmt.Sprintf(`{"codigo":%q,"mensaje":"x","estado":%q,"esValido":%t}`, codigo, estado, codigo == "0"))
}

var accepted = codigo("0", "Aceptado")

// in answers after a while, or not at all for a caller who leaves before.
func in(d time.Duration, answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return answer(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// A receipt that was answered 5xx is asked again after an outage; one whose answer is unknown never is.
func TestAnOutageOfABatchOfReceipts(t *testing.T) {
	for name, test := range map[string]struct {
		down  func(*http.Request) (*http.Response, error)
		again bool
	}{
		"500":               {raw(500, `{"error":"SUNAT no responde","code":"SUNAT_TIMEOUT"}`), true},
		"502":               {raw(502, "<html>Bad Gateway"), true},
		"a bare 429":        {raw(429, "<html>slow down", "Content-Type: text/html"), true},
		"not sent":          {unsent, true},
		"reset":             {broken(errors.New("connection reset")), false},
		"no answer":         {in(time.Hour, accepted), false},
		"a firewall's page": {raw(403, "<html>blocked", "Content-Type: text/html"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := time.Now().Add(10 * time.Second)
				s := &sunat{answer: func(numero, _ int) func(*http.Request) (*http.Response, error) {
					if numero > 40 && time.Now().Before(end) {
						return test.down
					}
					return nil
				}}
				lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(200), credenciales, fiscope.LotePolicy{}))
				require.Nil(t, stopped)
				assert.Len(t, lines, 200)
				for position, err := range lines {
					if test.again {
						require.NoError(t, err, "%d is asked again, and delivered with its answer", position)
					} else {
						assert.Equal(t, 1, s.times[position+1], "%d: %v", position, err)
					}
				}
				failed := 0
				for _, err := range lines {
					if err != nil {
						failed++
					}
				}
				assert.LessOrEqual(t, failed, 16, "the others waited")
			})
		})
	}
}

func TestAnAuthorityThatIsAwayStopsABatchOfReceipts(t *testing.T) {
	for name, test := range map[string]struct {
		down  func(*http.Request) (*http.Response, error)
		lines int // delivered, with their error
		next  int
	}{
		"500":       {raw(500, ""), 0, 40},
		"no answer": {in(20*time.Second, broken(errors.New("reset"))), 17, 57},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sunat{answer: func(numero, _ int) func(*http.Request) (*http.Response, error) {
					if numero > 40 {
						return test.down
					}
					return nil
				}}
				lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(200), credenciales, fiscope.LotePolicy{Concurrency: 1}))
				require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
				assert.Equal(t, test.next, stopped.Posicion)
				assert.Len(t, lines, 40+test.lines)
				for position := range test.lines {
					require.ErrorContains(t, lines[40+position], "may have received it")
					assert.Equal(t, 1, s.times[41+position])
				}
			})
		})
	}
}

func TestARefusedClaveStopsABatch(t *testing.T) {
	for _, first := range []int{1, 30} {
		synctest.Test(t, func(t *testing.T) {
			s := &sunat{answer: func(numero, _ int) func(*http.Request) (*http.Response, error) {
				if numero >= first {
					return in(time.Second, raw(401, contract(t, "validar_401.json")))
				}
				return nil
			}}
			lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(200), credenciales, fiscope.LotePolicy{}))
			require.ErrorIs(t, stopped, fiscope.ErrInvalidSOLCredentials)
			assert.NotContains(t, stopped.Error(), clave)
			assert.Len(t, lines, first-1, "what was answered is delivered")
			assert.Equal(t, first-1, stopped.Posicion)
			assert.Less(t, s.sent(), first+8)
			if first == 1 {
				assert.Equal(t, 1, s.sent())
			}
		})
	}
}

// While a clave is unproven its validations go one by one: those that wait in vain for their turn are not sent yet.
func TestAReceiptThatWaitsForAnotherIsAskedInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sunat{answer: func(int, int) func(*http.Request) (*http.Response, error) {
			return in(20*time.Second, codigo("99", "Error"))
		}}
		lines, stopped := allReceipts(t, newClient(t, s).CPE.ValidarLote(t.Context(), receipts(20), credenciales, fiscope.LotePolicy{}))
		require.Nil(t, stopped)
		assert.Len(t, lines, 20)
		assert.Equal(t, 20, s.sent(), "each is sent once")
		for _, err := range lines {
			require.NoError(t, err)
		}
	})
}

// A receipt is recorded once it cannot change any more: the next run asks for the others again.
func TestTheProgressOfReceipts(t *testing.T) {
	for _, final := range []bool{false, true} {
		t.Run(fmt.Sprint("NoExisteEsFinal: ", final), func(t *testing.T) {
			s := &sunat{answer: func(numero, _ int) func(*http.Request) (*http.Response, error) {
				return []func(*http.Request) (*http.Response, error){
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

func TestABatchOfReceipts(t *testing.T) {
	s := &sunat{answer: func(int, int) func(*http.Request) (*http.Response, error) { return codigo("4", "En Proceso") }}
	other, wrong := factura, fiscope.Comprobante{}
	other.Numero++
	inputs := []fiscope.Comprobante{factura, other, wrong, factura}
	got := map[int]fiscope.LineaLote[fiscope.Comprobante, fiscope.ResultadoCPE]{}
	for l, err := range newClient(t, s).CPE.ValidarLote(t.Context(), slices.Values(inputs), credenciales, fiscope.LotePolicy{}) {
		if l.Entrada == wrong {
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
		} else {
			require.NoError(t, err)
			assert.Equal(t, fiscope.CodigoEnProceso, l.Resultado.Codigo)
		}
		assert.Equal(t, inputs[l.Posicion], l.Entrada)
		got[l.Posicion] = l
	}
	assert.Len(t, got, 4)
	assert.True(t, got[3].Repetido)
	assert.NotSame(t, got[0].Resultado, got[3].Resultado)
	assert.Equal(t, 2, s.sent())
}
