package otelfiscope_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fiscope/fiscope/otelfiscope"
)

// recorder is a backend: it has what was exported.
type recorder struct {
	start   time.Time
	spans   *tracetest.InMemoryExporter
	tracers *trace.TracerProvider
	reader  *metric.ManualReader
	meters  *metric.MeterProvider
}

// newRecorder returns one whose metrics are set by opts besides.
func newRecorder(t testing.TB, opts ...metric.Option) *recorder {
	t.Helper()
	r := &recorder{start: time.Now(), spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	r.tracers = trace.NewTracerProvider(trace.WithSyncer(r.spans))
	r.meters = metric.NewMeterProvider(append(opts, metric.WithReader(r.reader))...)
	t.Cleanup(func() {
		assert.NoError(t, r.tracers.Shutdown(context.Background()))
		assert.NoError(t, r.meters.Shutdown(context.Background()))
	})
	return r
}

// telemetry returns one whose spans and metrics the recorder gets.
func (r *recorder) telemetry(t testing.TB, opts ...otelfiscope.Option) *otelfiscope.Telemetry {
	t.Helper()
	tel, err := otelfiscope.New(append([]otelfiscope.Option{otelfiscope.WithTracerProvider(r.tracers), otelfiscope.WithMeterProvider(r.meters)}, opts...)...)
	require.NoError(t, err)
	return tel
}

// traced returns a line for each span, in the order in which they ended.
func (r *recorder) traced() (lines []string) {
	spans := r.spans.GetSpans()
	names := map[string]string{"0000000000000000": "nothing"}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans {
		line := fmt.Sprintf("%s %s in %s, %s to %s, %s", s.Name, s.SpanKind, names[s.Parent.SpanID().String()],
			s.StartTime.Sub(r.start).Round(time.Millisecond), s.EndTime.Sub(r.start).Round(time.Millisecond), s.Status.Code)
		lines = append(lines, line+": "+written(s.Attributes))
	}
	return lines
}

// written returns attributes in the order of their names.
func written(attributes []attribute.KeyValue) string {
	set := attribute.NewSet(attributes...)
	var parts []string
	for _, a := range set.ToSlice() {
		parts = append(parts, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	return strings.Join(parts, " ")
}

func (r *recorder) collect(t testing.TB) metricdata.ResourceMetrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	return all
}

// series is what a metric has for one set of attributes.
type series struct {
	name, unit, kind, attributes string
	value                        int64   // of a histogram the count
	sum                          float64 // of a histogram
}

func (s series) String() string {
	line := fmt.Sprintf("%s %s %s {%s} %d", s.name, s.kind, s.unit, s.attributes, s.value)
	if s.kind == "histogram" {
		line += fmt.Sprintf(" in %gs", math.Round(s.sum*1000)/1000)
	}
	return line
}

// measured returns all series, in the order of their texts.
func (r *recorder) measured(t testing.TB) (all []series) {
	t.Helper()
	for _, scope := range r.collect(t).ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(kind string, set attribute.Set, value int64, sum float64) {
				all = append(all, series{m.Name, m.Unit, kind, written(set.ToSlice()), value, sum})
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				kind := map[bool]string{true: "counter", false: "level"}[data.IsMonotonic]
				for _, p := range data.DataPoints {
					add(kind, p.Attributes, p.Value, 0)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add("gauge", p.Attributes, p.Value, 0)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add("histogram", p.Attributes, int64(p.Count), p.Sum)
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	slices.SortFunc(all, func(a, b series) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// lines returns the series as they print. Nothing is under way any more, which is left out.
func lines(t testing.TB, all []series) (lines []string) {
	t.Helper()
	for _, s := range all {
		if s.name == "fiscope.active_operations" {
			assert.Equal(t, "level", s.kind)
			assert.Zero(t, s.value, s)
			continue
		}
		lines = append(lines, s.String())
	}
	return lines
}
