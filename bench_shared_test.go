package fiscope_test

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// used returns how long the processor works for calls of do, which makes all of them.
func used(tb testing.TB, do func(calls int)) func(calls int) time.Duration {
	return func(calls int) time.Duration {
		runtime.GC()
		start := cpuTime(tb)
		do(calls)
		return cpuTime(tb) - start
	}
}

// BenchmarkCacheHit compares answers from the cache, by 64 goroutines and of 5000 taxpayers, with a list that is
// locked, alone (x-lru), and with such a list and the copy that each caller gets (x-lru-copy).
//
// A round takes most of a second, as long as 64 goroutines have to share the processors to meet at the list's lock:
// in one of 20 ms they run one after the other, and the least of those rounds is of a lock that nobody waits for.
// Where only one processor is free nobody waits for it either: x-lru is of a machine on which nothing else runs.
func BenchmarkCacheHit(b *testing.B) {
	client := newClient(b, everyRUC(b), fiscope.WithCache(fiscope.CachePolicy{}))
	list, err := lru.New[string, *fiscope.Contribuyente](10_000)
	require.NoError(b, err)
	ctx := b.Context()
	var asked []string
	for ruc := range rucs(5000) {
		c, err := client.Contribuyentes.Consultar(ctx, ruc)
		require.NoError(b, err)
		list.Add(ruc, c)
		asked = append(asked, ruc)
	}
	get := func(call int) { _, _ = list.Get(asked[call%len(asked)]) }
	getCopy := func(call int) {
		c, _ := list.Get(asked[call%len(asked)])
		_ = copied(c)
	}
	hit := func(call int) { _, _ = client.Contribuyentes.Consultar(ctx, asked[call%len(asked)]) }
	least := leastOf(b, 3_000_000, by(64, get), by(64, getCopy), by(64, hit))
	b.ReportMetric(least[0], "ns-lru")
	b.ReportMetric(least[2], "ns/op")
	b.ReportMetric(least[2]/least[0], "x-lru")
	b.ReportMetric(least[2]/least[1], "x-lru-copy")
}

// copied is not inlined, so that the copy is made although nobody looks at it.
//
//go:noinline
func copied(c *fiscope.Contribuyente) *fiscope.Contribuyente {
	own := *c
	return &own
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
		return func(calls int) time.Duration {
			service := &countdown{left: left, over: 2 * time.Second, body: contract(b, "consultar_200.json")}
			client := newClient(b, service, append(opts, fiscope.WithRetry(noRetries()))...)
			_, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT) // tells how many are left
			require.NoError(b, err)
			return used(b, func(calls int) {
				by(calls, func(int) { _, _ = client.Contribuyentes.Consultar(b.Context(), rucSUNAT) })(calls)
			})(calls)
		}
	}
	compare(b, "x-no-gate", calls, day(fiscope.WithoutQuotaGate()), day())
}

// flights is what a careful program without this library has for calls that share a query: the first asks, and
// the others wait for its answer, as long as their contexts allow.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

type flight struct {
	done   chan struct{}
	answer *fiscope.Contribuyente
	err    error
}

func (f *flights) join(ctx context.Context, ruc string, ask func() (*fiscope.Contribuyente, error)) (*fiscope.Contribuyente, error) {
	f.mu.Lock()
	shared := f.all[ruc]
	if shared == nil {
		shared = &flight{done: make(chan struct{})}
		f.all[ruc] = shared
		go func() {
			shared.answer, shared.err = ask()
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.all, ruc)
			close(shared.done)
		}()
	}
	f.mu.Unlock()
	select {
	case <-shared.done:
		own := *shared.answer
		return &own, shared.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// joined returns what it costs to join a query that is under way: join begins one or joins it, and its answer
// waits.
func joined(tb testing.TB, answer chan struct{}, join func()) func(calls int) time.Duration {
	return used(tb, func(calls int) {
		var about atomic.Int64
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				about.Add(1)
				join()
			})
		}
		for int(about.Load()) < calls {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond) // which costs nothing: only the processor's time counts
		answer <- struct{}{}
		all.Wait()
	})
}

// BenchmarkJoin compares 1000 calls that share a query with a hand-written way to do so: the time of the
// processor.
func BenchmarkJoin(b *testing.B) {
	answer, found := make(chan struct{}), inMemory(b)
	slow := roundTripper(func(r *http.Request) (*http.Response, error) {
		<-answer
		return found.RoundTrip(r)
	})
	sharing, alone := newClient(b, slow, fiscope.WithCoalescing()), newClient(b, slow)
	byHand := flights{all: map[string]*flight{}}
	asks := func() (*fiscope.Contribuyente, error) { return alone.Contribuyentes.Consultar(b.Context(), rucSUNAT) }
	compare(b, "x-hand", 1000,
		joined(b, answer, func() { _, _ = byHand.join(b.Context(), rucSUNAT, asks) }),
		joined(b, answer, func() { _, _ = sharing.Contribuyentes.Consultar(b.Context(), rucSUNAT) }))
}

// What is measured of the others is what they allocate once the first has asked.
func TestJoiningAQueryMakesFewAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	const calls = 1000
	found := inMemory(t)
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return found.RoundTrip(r)
		}), fiscope.WithCoalescing())
		lookup := func() { _, _ = client.Contribuyentes.Consultar(t.Context(), rucSUNAT) }
		go lookup()
		begin := make(chan struct{})
		for range calls {
			go func() { <-begin; lookup() }()
		}
		synctest.Wait()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		close(begin)
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		runtime.ReadMemStats(&after)
		if each := float64(after.Mallocs-before.Mallocs) / calls; each > 5 {
			t.Errorf("%.1f allocations each, want at most 5", each)
		} else {
			t.Logf("%.1f allocations each", each)
		}
	})
}
