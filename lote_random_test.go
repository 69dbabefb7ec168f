package fiscope_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

var randomBatches = flag.Int("batches", 200, "how many batches TestRandomBatches resumes to their end")

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
// by itself, its deadline, a cancel, a break, or a kill before a line was stored. No input is lost, and what is paid
// again is bounded: with a Progress by Concurrency a run, with a From by Window and Concurrency.
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
	memory := one(0, -1)
	if progress && memory == 0 { // a From alone does not know what earlier runs were answered
		for range one(0, 30) {
			inputs = append(inputs, inputs[random.IntN(len(inputs))])
		}
	}
	opts := []fiscope.Option{fiscope.WithRetry(noRetries()), fiscope.WithoutQuotaGate()}
	if random.IntN(3) == 0 {
		opts[0] = fiscope.WithRetry(fiscope.DefaultRetryPolicy())
	}
	if random.IntN(2) == 0 {
		opts = append(opts, fiscope.WithRateLimit(rate.Limit(1+random.IntN(10)), 1+random.IntN(5)))
	}
	switch random.IntN(5) {
	case 0:
		opts = append(opts, fiscope.WithCoalescing())
	case 1:
		opts = append(opts, fiscope.WithCache(fiscope.CachePolicy{}))
	case 2:
		opts = append(opts, fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Minute, StaleIfError: time.Duration(random.IntN(48)) * time.Hour}))
	}
	if random.IntN(3) == 0 {
		takes := one(1, 500, 2500)
		store := newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) {
			u.mu.Lock()
			wait := u.random.IntN(takes)
			u.mu.Unlock()
			time.Sleep(time.Duration(wait) * time.Millisecond)
		}})
		opts[1] = []fiscope.Option{fiscope.WithStore(store), fiscope.WithStore(&exact{troubled: store})}[random.IntN(2)] // it is asked where there is a gate
	}
	client := newClient(t, u, opts...)
	policy := fiscope.LotePolicy{Concurrency: 1 + random.IntN(12), Window: one(0, 1, 5, 40), Memory: memory, MaxFailures: one(0, 2, 5, 30)}
	n := &notes{}
	if progress {
		policy.Progress = n
	}
	window := policy.Window
	if window == 0 {
		window = 1000
	}
	said := fmt.Sprintf("seed %d: %+v, %v", seed, policy, u.rate)

	answered, failed, lines := map[string]bool{}, map[string]bool{}, make([]bool, len(inputs))
	for run := 0; ; run++ {
		if run == 12 { // in the end all is well
			u.mu.Lock()
			u.steady = true
			u.mu.Unlock()
		}
		before := u.again()
		ended := randomRun(t, client, &policy, inputs, random, u.steady, func(l fiscope.DeLote[string, fiscope.Contribuyente], err error) {
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
		} else {
			require.LessOrEqual(t, u.again()-before, policy.Concurrency+window, "%s: run %d", said, run)
		}
		if ended && u.steady {
			break
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

// randomRun is one run, which ends at random. store is told of each line that its consumer stored. It returns whether
// the batch came to its end, and otherwise leaves in the policy where the next one goes on.
func randomRun(t *testing.T, client *fiscope.Client, policy *fiscope.LotePolicy, inputs []string, random *rand.Rand, steady bool, store func(fiscope.DeLote[string, fiscope.Contribuyente], error)) (ended bool) {
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
		var stopped *fiscope.LoteDetenido
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
