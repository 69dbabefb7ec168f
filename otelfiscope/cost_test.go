package otelfiscope_test

import (
	"context"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/otelfiscope"
)

// forgetful keeps no span.
type forgetful struct{}

func (forgetful) OnStart(context.Context, trace.ReadWriteSpan) {}
func (forgetful) OnEnd(trace.ReadOnlySpan)                     {}
func (forgetful) Shutdown(context.Context) error               { return nil }
func (forgetful) ForceFlush(context.Context) error             { return nil }

// costs are clients without telemetry, and with more and more of it, whose service answers at once.
func costs(tb testing.TB) (names []string, clients []*fiscope.Client) {
	tb.Helper()
	measured := otelfiscope.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	traced := otelfiscope.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(forgetful{})))
	found := contract(tb, 200, "consultar_200.json")
	without, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHTTPClient(&http.Client{Transport: found}))
	require.NoError(tb, err)
	names, clients = []string{"nothing"}, []*fiscope.Client{without}
	for _, c := range []struct {
		name string
		opts []otelfiscope.Option
	}{
		{"no-provider", silent},
		{"metrics", []otelfiscope.Option{measured, silent[1]}},
		{"metrics-and-spans", []otelfiscope.Option{measured, traced}},
	} {
		tel, err := otelfiscope.New(c.opts...)
		require.NoError(tb, err)
		names, clients = append(names, c.name), append(clients, connect(tb, tel, found))
	}
	return names, clients
}

func TestWhatTelemetryAllocates(t *testing.T) {
	if !countsAllocations {
		t.Skip("allocations are counted with Go 1.26, without the race detector")
	}
	names, clients := costs(t)
	allocations := func(c *fiscope.Client) float64 {
		return testing.AllocsPerRun(200, func() { consult(t.Context(), c) })
	}
	without := allocations(clients[0])
	for i, most := range []float64{0, 9, 37, 46} {
		more := allocations(clients[i]) - without
		assert.LessOrEqual(t, more, most, names[i])
		t.Logf("%s: %.0f allocations more than %.0f", names[i], more, without)
	}
}

// BenchmarkTelemetry compares a lookup without telemetry with the same lookup, reported to nobody, measured, and traced
// too: the least of many rounds of each, in turn.
func BenchmarkTelemetry(b *testing.B) {
	const calls = 100
	names, clients := costs(b)
	least := make([]float64, len(clients))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for b.Loop() {
		for i, c := range clients {
			start := time.Now()
			for range calls {
				consult(b.Context(), c)
			}
			least[i] = min(least[i], float64(time.Since(start).Nanoseconds())/calls)
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
	b.ReportMetric(least[0], "ns-"+names[0])
	for i := 1; i < len(clients); i++ {
		b.ReportMetric(least[i]/least[0], "x-"+names[i])
	}
}
