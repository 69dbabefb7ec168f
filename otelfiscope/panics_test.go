package otelfiscope_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	mnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tnoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/otelfiscope"
)

// silent are the providers that record nothing: of metrics, and of spans.
var silent = []otelfiscope.Option{otelfiscope.WithMeterProvider(mnoop.NewMeterProvider()), otelfiscope.WithTracerProvider(tnoop.NewTracerProvider())}

type noTracer = tnoop.Tracer

// fakeTracers is a provider whose spans are made by a function.
type fakeTracers struct {
	tnoop.TracerProvider
	noTracer
	start func(context.Context) (context.Context, trace.Span)
}

func (f fakeTracers) Tracer(string, ...trace.TracerOption) trace.Tracer { return f }

func (f fakeTracers) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	return f.start(ctx)
}

type panickySpan struct{ tnoop.Span }

func (panickySpan) IsRecording() bool          { return true }
func (panickySpan) End(...trace.SpanEndOption) { panic("no end") }

type noMeter = mnoop.Meter

// fakeMeters is a provider whose metrics panic, or are not made.
type fakeMeters struct {
	mnoop.MeterProvider
	noMeter
	err error
}

func (f fakeMeters) Meter(string, ...metric.MeterOption) metric.Meter { return f }

func (f fakeMeters) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return panickyMetric{}, f.err
}

func (f fakeMeters) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return panickyMetric{}, nil
}

type (
	noCounter     = mnoop.Int64Counter
	panickyMetric struct {
		mnoop.Float64Histogram
		noCounter
	}
)

func (panickyMetric) Enabled(context.Context) bool                            { return true }
func (panickyMetric) Add(context.Context, int64, ...metric.AddOption)         { panic("no count") }
func (panickyMetric) Record(context.Context, float64, ...metric.RecordOption) { panic("no measure") }

// handled is what OpenTelemetry's error handler was given.
type handled struct {
	mu   sync.Mutex
	all  []string
	then func()
}

func (h *handled) Handle(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, err.Error())
	if h.then != nil {
		h.then()
	}
}

func handleErrors(t *testing.T) *handled {
	h, before := new(handled), otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(before) })
	otel.SetErrorHandler(h)
	return h
}

// answersTwice looks up twice, the second time in the cache.
func answersTwice(ctx context.Context, t *testing.T, client *fiscope.Client) {
	t.Helper()
	for range 2 {
		c, err := client.Contribuyentes.Consultar(ctx, ruc)
		require.NoError(t, err)
		assert.Equal(t, ruc, c.RUC)
	}
}

func TestAProviderThatPanicsEndsNoCall(t *testing.T) {
	h := handleErrors(t)
	for name, opt := range map[string]otelfiscope.Option{
		"at the start of a span": otelfiscope.WithTracerProvider(fakeTracers{start: func(context.Context) (context.Context, trace.Span) { panic("no span") }}),
		"at its end":             otelfiscope.WithTracerProvider(fakeTracers{start: func(ctx context.Context) (context.Context, trace.Span) { return ctx, panickySpan{} }}),
		"returning nothing":      otelfiscope.WithTracerProvider(fakeTracers{start: func(context.Context) (context.Context, trace.Span) { return nil, nil }}),
		"in a metric":            otelfiscope.WithMeterProvider(fakeMeters{}),
	} {
		for handler, then := range map[string]func(){"": nil, ", and the handler too": func() { panic("no handler") }} {
			t.Run(name+handler, func(t *testing.T) {
				h.all, h.then = nil, then
				var seen any
				tel := newRecorder(t).telemetry(t, opt, otelfiscope.WithHook(func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
					seen = ctx.Value(mine{})
					return ctx, nil
				}))
				answersTwice(context.WithValue(t.Context(), mine{}, "mine"), t, connect(t, tel, contract(t, 200, "consultar_200.json"), fiscope.WithCache(fiscope.CachePolicy{})))
				assert.Equal(t, "mine", seen, "a hook of one's own has its context")
				require.NotEmpty(t, h.all)
				for _, text := range h.all {
					assert.Regexp(t, `^otelfiscope: a provider panicked \((string|runtime.errorString)\): the call goes on$`, text)
				}
			})
		}
	}
}
