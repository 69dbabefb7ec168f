package fiscope_test

import (
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// everyRUC answers every lookup with the contract's record, at next to no cost.
func everyRUC(tb testing.TB) http.RoundTripper {
	before, after, _ := strings.Cut(contract(tb, "consultar_200.json"), rucSUNAT)
	header := http.Header{
		"Content-Type":          {"application/json"},
		"X-Ratelimit-Limit":     {"1000000000"},
		"X-Ratelimit-Remaining": {"999999999"},
		"X-Ratelimit-Reset":     {time.Now().Add(12 * time.Hour).UTC().Format(time.RFC3339)},
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		body := before + r.URL.Path[len(r.URL.Path)-len(rucSUNAT):] + after
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
	})
}

// peak watches the memory until it is stopped, and returns the most that the heap's objects took, and
// the most that the process had of the system.
func peak() (stop func() (heap, system uint64)) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	var heap, system uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for ticks := time.NewTicker(5 * time.Millisecond); ; {
			metrics.Read(samples)
			heap = max(heap, samples[0].Value.Uint64())
			system = max(system, samples[1].Value.Uint64()-samples[2].Value.Uint64())
			select {
			case <-ticks.C:
			case <-done:
				ticks.Stop()
				return
			}
		}
	}()
	return func() (uint64, uint64) {
		close(done)
		<-ended
		return heap, system
	}
}

// BenchmarkConsultarLote compares a batch of 100 000 different RUCs, whose answers come at once, with as many
// goroutines that make the same calls: the time of the processor. It also shows the most memory that the
// batch's heap took, with the answers that it keeps for duplicates.
func BenchmarkConsultarLote(b *testing.B) {
	client := newClient(b, everyRUC(b))
	var heap, process uint64
	byHand := used(b, func(calls int) {
		slots := make(chan struct{}, 8)
		var wg sync.WaitGroup
		for ruc := range rucs(calls) {
			slots <- struct{}{}
			wg.Go(func() {
				if _, err := client.Contribuyentes.Consultar(b.Context(), ruc); err != nil {
					b.Error(err)
				}
				<-slots
			})
		}
		wg.Wait()
	})
	batch := used(b, func(calls int) {
		stop := peak()
		for _, err := range client.Contribuyentes.ConsultarLote(b.Context(), rucs(calls), fiscope.LotePolicy{}) {
			if err != nil {
				b.Error(err)
			}
		}
		most, system := stop()
		heap, process = max(heap, most), max(process, system)
	})
	compare(b, "x-goroutines", 100_000, byHand, batch)
	b.ReportMetric(float64(heap)/(1<<20), "MiB-heap-peak")
	b.ReportMetric(float64(process)/(1<<20), "MiB-process-peak")
}

// What a batch keeps does not grow with its inputs.
func TestABatchsMemoryDoesNotGrowWithItsInputs(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes seconds, and the race detector's own memory would count")
	}
	client := newClient(t, everyRUC(t))
	live := func(inputs int) uint64 {
		var m runtime.MemStats
		for l, err := range client.Contribuyentes.ConsultarLote(t.Context(), rucs(inputs), fiscope.LotePolicy{Memory: 1000}) {
			require.NoError(t, err)
			if l.Siguiente == inputs {
				runtime.GC()
				runtime.ReadMemStats(&m)
			}
		}
		return m.HeapAlloc
	}
	few, many := live(5_000), live(50_000)
	require.NotZero(t, few)
	if many > few+1<<20 {
		t.Errorf("%d bytes are live after 50 000 inputs, %d after 5 000", many, few)
	}
}

// What is remembered for duplicates costs what the doc of ConsultarLote says.
func TestWhatABatchRemembersOfAnInput(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes seconds, and the race detector's own memory would count")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const inputs = 20_000
	for name, test := range map[string]struct {
		service http.RoundTripper
		most    int
	}{
		"a record":              {everyRUC(t), 480},
		"a RUC that nobody has": {roundTripper(raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 900000")), 720},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, test.service)
			before, live := heap(), uint64(0)
			for l := range client.Contribuyentes.ConsultarLote(t.Context(), rucs(inputs), fiscope.LotePolicy{}) {
				if l.Siguiente == inputs {
					live = heap()
				}
			}
			assert.Less(t, int(live-before)/inputs, test.most)
		})
	}
}
