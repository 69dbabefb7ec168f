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

// panicky is a provider of spans that panics, at their start or later.
type panicky struct {
	tnoop.TracerProvider
	atStart bool
}

func (p panicky) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return panickyTracer{atStart: p.atStart}
}

type panickyTracer struct {
	tnoop.Tracer
	atStart bool
}

func (p panickyTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	if p.atStart {
		panic("no span for " + name)
	}
	ctx, span := p.Tracer.Start(ctx, name, opts...)
	return ctx, panickySpan{span}
}

type panickySpan struct{ trace.Span }

func (panickySpan) IsRecording() bool          { return true }
func (panickySpan) End(...trace.SpanEndOption) { panic("no end") }

// empty is a provider of spans that returns none, and no context.
type empty struct{ tnoop.TracerProvider }

func (empty) Tracer(string, ...trace.TracerOption) trace.Tracer { return emptyTracer{} }

type emptyTracer struct{ tnoop.Tracer }

func (emptyTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	return nil, nil
}

// panickyMeters is a provider of metrics that panics when one is measured.
type panickyMeters struct{ mnoop.MeterProvider }

func (panickyMeters) Meter(string, ...metric.MeterOption) metric.Meter { return panickyMeter{} }

type panickyMeter struct{ mnoop.Meter }

func (panickyMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return panickyCounter{}, nil
}

func (panickyMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return panickyHistogram{}, nil
}

type panickyCounter struct{ mnoop.Int64Counter }

func (panickyCounter) Add(context.Context, int64, ...metric.AddOption) { panic("no count") }

type panickyHistogram struct{ mnoop.Float64Histogram }

func (panickyHistogram) Enabled(context.Context) bool { return true }

func (panickyHistogram) Record(context.Context, float64, ...metric.RecordOption) { panic("no measure") }

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

func TestAProviderThatPanicsEndsNoCall(t *testing.T) {
	h := new(handled)
	before := otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(before) })
	otel.SetErrorHandler(h)
	for name, opts := range map[string][]otelfiscope.Option{
		"at the start of a span": {otelfiscope.WithTracerProvider(panicky{atStart: true})},
		"at its end":             {otelfiscope.WithTracerProvider(panicky{})},
		"in a metric":            {otelfiscope.WithMeterProvider(panickyMeters{})},
	} {
		for handler, then := range map[string]func(){"": nil, ", and the handler too": func() { panic("no handler") }} {
			t.Run(name+handler, func(t *testing.T) {
				h.all, h.then = nil, then
				tel := newRecorder(t).telemetry(t, opts...)
				client := connect(t, tel, contract(t, 200, "consultar_200.json"), fiscope.WithCache(fiscope.CachePolicy{}))
				for range 2 { // the second is of the cache
					c, err := client.Contribuyentes.Consultar(t.Context(), ruc)
					require.NoError(t, err)
					assert.Equal(t, ruc, c.RUC)
				}
				require.NotEmpty(t, h.all)
				for _, text := range h.all {
					assert.Equal(t, "otelfiscope: a provider panicked (string): the call goes on", text)
				}
			})
		}
	}
}

// A hook of one's own has a context, whatever a provider returns.
func TestAProviderThatReturnsNothingEndsNoCall(t *testing.T) {
	h := new(handled)
	before := otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(before) })
	otel.SetErrorHandler(h)
	type mine struct{}
	var seen any
	tel := newRecorder(t).telemetry(t, otelfiscope.WithTracerProvider(empty{}),
		otelfiscope.WithHook(func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			seen = ctx.Value(mine{})
			return ctx, nil
		}))
	_, err := connect(t, tel, contract(t, 200, "consultar_200.json")).Contribuyentes.Consultar(context.WithValue(t.Context(), mine{}, "mine"), ruc)
	require.NoError(t, err)
	assert.Equal(t, "mine", seen)
	assert.NotEmpty(t, h.all)
}
