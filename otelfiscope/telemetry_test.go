package otelfiscope_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/otelfiscope"
)

// The names, units and bounds are a promise to dashboards. Attributes of one's own are everywhere.
func TestTheMetrics(t *testing.T) {
	r := newRecorder(t)
	tel := r.telemetry(t, otelfiscope.WithAttributes(attribute.String("server.address", "fiscal.example")), otelfiscope.WithAttributes(attribute.Int("server.port", 443)))
	client := connect(t, tel, inTurn(testservice.Raw(503, ""), contract(t, 200, "consultar_200.json",
		"X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 995", "X-RateLimit-Reset: 2099-01-01T05:00:00Z")), atOnce(1))
	_, err := tel.ObserveQuota(client)
	require.NoError(t, err)
	consult(t.Context(), client)
	_, _ = client.Contribuyentes.Consultar(t.Context(), "1")
	got := map[string]string{}
	bounds := map[string][]float64{}
	kinds, measuredIn := map[trace.SpanID]trace.SpanKind{}, map[string]trace.SpanKind{}
	scope := instrumentation.Scope{Name: "github.com/fiscope/fiscope/otelfiscope", SchemaURL: "https://opentelemetry.io/schemas/1.43.0"}
	for _, s := range r.spans.GetSpans() {
		assert.Equal(t, scope, s.InstrumentationScope)
		kinds[s.SpanContext.SpanID()] = s.SpanKind
	}
	for _, of := range r.collect(t).ScopeMetrics {
		assert.Equal(t, scope, of.Scope)
		for _, m := range of.Metrics {
			got[m.Name] = m.Unit + ": " + m.Description
			if data, ok := m.Data.(metricdata.Histogram[float64]); ok {
				bounds[m.Name] = data.DataPoints[0].Bounds
				measuredIn[m.Name] = kinds[trace.SpanID(data.DataPoints[0].Exemplars[0].SpanID)]
			}
		}
	}
	assert.Empty(t, cmp.Diff(map[string]string{
		"fiscope.operation.duration":   "s: Duration of an operation, with its retries and waits",
		"fiscope.active_operations":    "{operation}: Operations under way",
		"http.client.request.duration": "s: Duration of HTTP client requests.",
		"fiscope.retries":              "{attempt}: Attempts after the first of an operation",
		"fiscope.queries.avoided":      "{query}: Calls that spent no query, by reason",
		"fiscope.quota.limit":          "{query}: Queries of a day, as the last answer said",
		"fiscope.quota.remaining":      "{query}: Queries left until the reset, as the last answer said",
	}, got), "a reset a century ahead is ignored")
	assert.Empty(t, cmp.Diff(map[string][]float64{
		"fiscope.operation.duration":   {.0001, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60},
		"http.client.request.duration": {.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10},
	}, bounds))
	assert.Equal(t, map[string]trace.SpanKind{"fiscope.operation.duration": trace.SpanKindInternal, "http.client.request.duration": trace.SpanKindClient}, measuredIn,
		"an exemplar leads from a metric to its span")
	for _, line := range r.traced() {
		assert.Contains(t, line, "server.address=fiscal.example server.port=443")
	}
	for _, s := range r.measured(t) {
		assert.Contains(t, s.attributes, "server.address=fiscal.example server.port=443", s.name)
	}
}

func TestNewRefusesAnOption(t *testing.T) {
	for name, test := range map[string]struct {
		opt  otelfiscope.Option
		says string
	}{
		"none":               {nil, "option 0 is nil"},
		"no tracer provider": {otelfiscope.WithTracerProvider(nil), "WithTracerProvider"},
		"no meter provider":  {otelfiscope.WithMeterProvider(nil), "WithMeterProvider"},
		"no hook":            {otelfiscope.WithHook(nil), "WithHook"},
		"a nameless one":     {otelfiscope.WithAttributes(attribute.String("", "x")), "WithAttributes"},
		"metrics not made":   {otelfiscope.WithMeterProvider(fakeMeters{err: errors.New("none left")}), "otelfiscope: the metrics cannot be made: none left"},
	} {
		t.Run(name, func(t *testing.T) {
			tel, err := otelfiscope.New(test.opt)
			require.ErrorContains(t, err, test.says)
			assert.Nil(t, tel)
		})
	}
	// A name that is exported is refused, whichever it is.
	for _, name := range slices.Concat(slices.Collect(maps.Keys(words)), slices.Collect(maps.Keys(numbers))) {
		_, err := otelfiscope.New(otelfiscope.WithAttributes(attribute.String(string(name), "x")))
		require.ErrorContains(t, err, "give yours another name", name)
	}
}

func TestTheGlobalProvidersAreTheDefault(t *testing.T) {
	r := newRecorder(t)
	tracers, meters := otel.GetTracerProvider(), otel.GetMeterProvider()
	t.Cleanup(func() {
		otel.SetTracerProvider(tracers)
		otel.SetMeterProvider(meters)
	})
	otel.SetTracerProvider(r.tracers)
	otel.SetMeterProvider(r.meters)
	tel, err := otelfiscope.New()
	require.NoError(t, err)
	consult(t.Context(), connect(t, tel, contract(t, 200, "consultar_200.json")))
	assert.Len(t, r.traced(), 2)
	assert.NotEmpty(t, r.measured(t))
}

// What a program logs within a call belongs to its span, in the transport as in a hook of its own.
func TestTheContextOfACallHasItsSpan(t *testing.T) {
	r := newRecorder(t)
	var inHook, inTransport trace.SpanContext
	var ends []string
	tel := r.telemetry(t, otelfiscope.WithHook(func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
		inHook = trace.SpanContextFromContext(ctx)
		return context.WithValue(ctx, mine{}, "mine"), func(resp fiscope.Response, err error) {
			ends = append(ends, fiscope.ErrorClass(err))
			assert.Equal(t, 1, resp.Attempts)
			assert.Len(t, r.traced(), 1, "the span of the operation is not over")
		}
	}))
	client := connect(t, tel, func(req *http.Request) (*http.Response, error) {
		inTransport = trace.SpanContextFromContext(req.Context())
		assert.Equal(t, "mine", req.Context().Value(mine{}))
		return contract(t, 404, "consultar_404.json")(req)
	})
	ctx, span := r.tracers.Tracer("test").Start(t.Context(), "invoice")
	consult(ctx, client)
	span.End()
	spans := r.spans.GetSpans()
	require.Len(t, spans, 3)
	operation := spans[1].SpanContext.SpanID()
	assert.Equal(t, operation, inHook.SpanID())
	assert.Equal(t, operation, inTransport.SpanID())
	assert.Equal(t, span.SpanContext().SpanID(), spans[1].Parent.SpanID())
	assert.Equal(t, []string{"not_found"}, ends)
}

type mine struct{}

// A hook may return no context and no function. It is called without a provider, too.
func TestAHookOfOnesOwnMayReturnNothing(t *testing.T) {
	for name, opts := range map[string][]otelfiscope.Option{"recorded": nil, "ignored": silent} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t)
			called, ended := 0, 0
			tel := r.telemetry(t, append(slices.Clone(opts), otelfiscope.WithHook(func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				if called++; called == 1 {
					return nil, nil
				}
				return nil, func(fiscope.Response, error) { ended++ }
			}))...)
			consultTwice(t.Context(), connect(t, tel, contract(t, 200, "consultar_200.json")))
			assert.Equal(t, 2, called)
			assert.Equal(t, 1, ended)
			if name == "recorded" {
				assert.Contains(t, r.traced()[0], "GET client in Contribuyentes.Consultar", "the context has the span all the same")
			}
		})
	}
}

// The service is a third party: what it gets is the same, byte for byte, also where a propagator is set.
func TestNothingIsSentToTheService(t *testing.T) {
	before := otel.GetTextMapPropagator()
	t.Cleanup(func() { otel.SetTextMapPropagator(before) })
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	var sent []string
	wire := testservice.Answer(func(r *http.Request) (*http.Response, error) {
		var b strings.Builder
		require.NoError(t, r.Write(&b))
		sent = append(sent, b.String())
		return contract(t, 200, "validar_200_aceptado.json")(r)
	})
	r := newRecorder(t)
	ctx, span := r.tracers.Tracer("test").Start(t.Context(), "invoice")
	defer span.End()
	with := connect(t, r.telemetry(t), wire)
	without, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHTTPClient(&http.Client{Transport: wire}))
	require.NoError(t, err)
	validateOnce(ctx, with)
	validateOnce(ctx, without)
	require.Len(t, sent, 2)
	assert.Contains(t, sent[0], "POST /consultas/api/cpe/validar HTTP/1.1")
	assert.Equal(t, sent[1], sent[0])
}

// Spans and metrics do without each other: a trace that is not sampled is measured all the same.
func TestSpansAndMetricsDoWithoutEachOther(t *testing.T) {
	unsampled := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample()))
	onlyActive := sdkmetric.NewView(sdkmetric.Instrument{Name: "*duration"}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}})
	const three = "fiscope.active_operations fiscope.operation.duration http.client.request.duration"
	for name, test := range map[string]struct {
		r       *recorder
		opts    []otelfiscope.Option
		spans   int
		metrics string
	}{
		"spans alone":        {newRecorder(t), silent[:1], 2, ""},
		"metrics alone":      {newRecorder(t), silent[1:], 0, three},
		"a trace not taken":  {newRecorder(t), []otelfiscope.Option{otelfiscope.WithTracerProvider(unsampled)}, 0, three},
		"a metric of a view": {newRecorder(t, sdkmetric.WithView(onlyActive)), []otelfiscope.Option{otelfiscope.WithTracerProvider(unsampled)}, 0, "fiscope.active_operations"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connect(t, test.r.telemetry(t, test.opts...), contract(t, 200, "consultar_200.json")).Contribuyentes.Consultar(t.Context(), ruc)
			require.NoError(t, err)
			assert.Len(t, test.r.traced(), test.spans)
			var names []string
			for _, s := range test.r.measured(t) {
				names = append(names, s.name)
			}
			assert.Equal(t, test.metrics, strings.Join(names, " "))
		})
	}
}

// A program may go on without telemetry, should New refuse an option.
func TestATelemetryThatNewDidNotMakeChangesNothing(t *testing.T) {
	for name, tel := range map[string]*otelfiscope.Telemetry{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			h := handleErrors(t)
			client := connect(t, tel, contract(t, 200, "consultar_200.json"), fiscope.WithCache(fiscope.CachePolicy{}))
			answersTwice(t.Context(), t, client)
			_, err := tel.ObserveQuota(client)
			require.ErrorContains(t, err, "not made by New")
			assert.Empty(t, h.all)
		})
	}
}
