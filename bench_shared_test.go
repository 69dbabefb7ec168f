package fiscope_test

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// by makes a number of goroutines share calls of do, which is told the number of its call, and returns the time
// that it took.
func by(goroutines int, do func(call int)) func(calls int) time.Duration {
	return func(calls int) time.Duration {
		var wg sync.WaitGroup
		start := time.Now()
		for first := range goroutines {
			wg.Go(func() {
				for call := first; call < calls; call += goroutines {
					do(call)
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
}

// BenchmarkCacheHit compares answers from the cache, by 64 goroutines and of 5000 taxpayers, with the cache's
// list alone, and with the list and the copy that each caller gets.
func BenchmarkCacheHit(b *testing.B) {
	client := newClient(b, everyRUC(b), fiscope.WithCache(fiscope.CachePolicy{}))
	alone, err := lru.New[string, *fiscope.Contribuyente](10_000)
	require.NoError(b, err)
	var asked []string
	for ruc := range rucs(5000) {
		c, err := client.Contribuyentes.Consultar(b.Context(), ruc)
		require.NoError(b, err)
		alone.Add(ruc, c)
		asked = append(asked, ruc)
	}
	hit := func(call int) { _, _ = client.Contribuyentes.Consultar(b.Context(), asked[call%len(asked)]) }
	get := func(call int) { _, _ = alone.Get(asked[call%len(asked)]) }
	var copies [64]*fiscope.Contribuyente
	getCopy := func(call int) {
		c, _ := alone.Get(asked[call%len(asked)])
		own := *c
		copies[call%len(copies)] = &own
	}
	b.Run("list", func(b *testing.B) { compare(b, "x-lru", 200_000, by(64, get), by(64, hit)) })
	b.Run("list and copy", func(b *testing.B) { compare(b, "x-lru-copy", 200_000, by(64, getCopy), by(64, hit)) })
}

// countdown is a service with a number of queries left. Its answers come one after the other, spread over a time,
// and those beyond the quota as slowly.
type countdown struct {
	left  int
	over  time.Duration
	body  string
	asked atomic.Int64
}

func (c *countdown) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(c.asked.Add(1))
	time.Sleep(time.Duration(n%c.left) * c.over / time.Duration(c.left))
	status, body := http.StatusOK, c.body
	if n > c.left {
		status, body = http.StatusTooManyRequests, `{"error":"Cuota agotada"}`
	}
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Hour).Format(time.RFC3339)
	return raw(status, body, "X-RateLimit-Remaining: "+strconv.Itoa(max(0, c.left-n)), "X-RateLimit-Reset: "+reset)(r)
}

// BenchmarkQuotaGate compares the time of the processor that 10 000 calls at once take, where 5000 queries are
// left and the answers come over 2 seconds, with that of the same without the gate, when all are sent.
func BenchmarkQuotaGate(b *testing.B) {
	const calls, left = 10_000, 5000
	day := func(opts ...fiscope.Option) func(int) time.Duration {
		return func(int) time.Duration {
			service := &countdown{left: left, over: 2 * time.Second, body: contract(b, "consultar_200.json")}
			client := newClient(b, service, append(opts, fiscope.WithRetry(noRetries()))...)
			_, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT) // tells how many are left
			require.NoError(b, err)
			runtime.GC()
			start := cpuTime(b)
			by(calls, func(int) { _, _ = client.Contribuyentes.Consultar(b.Context(), rucSUNAT) })(calls)
			return cpuTime(b) - start
		}
	}
	compare(b, "x-no-gate", calls, day(fiscope.WithoutQuotaGate()), day())
}
