package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// enMemoria returns a telemetry and what it saw.
func enMemoria(t *testing.T) (telemetria, *tracetest.InMemoryExporter, func() metricdata.ResourceMetrics) {
	t.Helper()
	spans, lector := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tel := nuevaTelemetria(trace.NewSimpleSpanProcessor(spans), lector)
	t.Cleanup(func() { assert.NoError(t, tel.cerrar()) })
	return tel, spans, func() (rm metricdata.ResourceMetrics) {
		require.NoError(t, lector.Collect(t.Context(), &rm))
		return rm
	}
}

func nombres(spans tracetest.SpanStubs) (todos []string) {
	for _, s := range spans {
		todos = append(todos, s.Name)
	}
	return todos
}

// todo writes all that a backend could get to see.
func todo(spans tracetest.SpanStubs, rm metricdata.ResourceMetrics) (texto string) {
	for _, s := range spans {
		texto += fmt.Sprintf("%s %v %v %v %v %v\n", s.Name, s.Attributes, s.Events, s.Status, s.Links, s.Resource)
	}
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			texto += m.Name + " " + m.Description
			for _, s := range seriesDe(m.Data) {
				texto += fmt.Sprint(" ", s.ToSlice())
			}
			texto += "\n"
		}
	}
	return texto
}

func TestSpansAreNamedByRouteAndHoldNobodysData(t *testing.T) {
	tel, spans, recoger := enMemoria(t)
	require.NoError(t, demostrar(t.Context(), tel, env()))
	vistos := spans.GetSpans()
	assert.Equal(t, []string{
		"GET /api/contribuyentes/:ruc", "fiscope Contribuyentes.Consultar", // answered
		"fiscope Contribuyentes.Consultar",                                           // from the cache
		"fiscope Contribuyentes.Consultar",                                           // refused locally
		"GET /api/tipocambio", "GET /api/tipocambio", "fiscope TipoCambio.Consultar", // a retry
		"GET /api/contribuyentes/search", "fiscope Contribuyentes.Buscar",
		"GET /api/contribuyentes/:ruc", "fiscope Contribuyentes.Consultar", // not found
		"POST /api/cpe/validar", "fiscope CPE.Validar",
		"POST /api/cpe/validar", "fiscope CPE.Validar", // refused by the tax authority
		"fiscope CPE.Validar", // and not sent again
		"emitir factura",
	}, nombres(vistos))
	texto := todo(vistos, recoger())
	sinNadaAjeno(t, texto)
	assert.Contains(t, texto, "url.full", "otelhttp still names it so, or this test proves nothing")

	padre := map[string]string{}
	for _, s := range vistos {
		padre[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range vistos[4:6] {
		assert.Equal(t, "fiscope TipoCambio.Consultar", padre[s.Parent.SpanID().String()])
	}
	noExiste := vistos[slices.Index(nombres(vistos), "fiscope Contribuyentes.Buscar")+2]
	assert.Contains(t, noExiste.Attributes, attribute.String("error.type", "not_found"))
	assert.Equal(t, codes.Unset, noExiste.Status.Code, "an answer is no alarm")
	assert.Equal(t, codes.Error, vistos[3].Status.Code)
}

func TestMetricsCountWhatWasPaidAndWhatWasNot(t *testing.T) {
	tel, _, recoger := enMemoria(t)
	require.NoError(t, demostrar(t.Context(), tel, env()))
	series := map[string][]string{}
	for _, scope := range recoger().ScopeMetrics {
		for _, m := range scope.Metrics {
			series[m.Name] = nil
			for _, s := range seriesDe(m.Data) {
				valor := s.valor
				if _, ok := m.Data.(metricdata.Histogram[float64]); ok {
					valor = valor[:1] // durations differ
				}
				series[m.Name] = append(series[m.Name], s.Encoded(attribute.DefaultEncoder())+" "+valor)
			}
			slices.Sort(series[m.Name])
		}
	}
	assert.Equal(t, []string{
		"error.type=invalid_sol_credentials,fiscope.operation=CPE.Validar,fiscope.retry=false,fiscope.status=401 1",
		"error.type=not_found,fiscope.operation=Contribuyentes.Consultar,fiscope.retry=false,fiscope.status=404 1",
		"error.type=unavailable,fiscope.operation=TipoCambio.Consultar,fiscope.retry=false,fiscope.status=503 1",
		"fiscope.operation=CPE.Validar,fiscope.retry=false,fiscope.status=200 1",
		"fiscope.operation=Contribuyentes.Buscar,fiscope.retry=false,fiscope.status=200 1",
		"fiscope.operation=Contribuyentes.Consultar,fiscope.retry=false,fiscope.status=200 1",
		"fiscope.operation=TipoCambio.Consultar,fiscope.retry=true,fiscope.status=200 1",
	}, series["fiscope.attempts"])
	assert.Contains(t, series["fiscope.attempt.duration"], "error.type=unavailable,fiscope.operation=TipoCambio.Consultar,fiscope.status=503 1")
	assert.Len(t, series["fiscope.attempt.duration"], 7)
	assert.Equal(t, []string{
		"fiscope.operation=CPE.Validar,fiscope.reason=sol 1",
		"fiscope.operation=Contribuyentes.Consultar,fiscope.reason=cached 1",
		"fiscope.operation=Contribuyentes.Consultar,fiscope.reason=invalid 1",
	}, series["fiscope.queries.avoided"])
	assert.Equal(t, []string{" 1000"}, series["fiscope.quota.limit"])
	assert.Equal(t, []string{" 995"}, series["fiscope.quota.remaining"], "as the last lookup said")
	assert.Contains(t, series["http.client.request.duration"][0], "url.template=/api/contribuyentes/:ruc")
	assert.NotContains(t, series, "http.client.request.body.size", "it tells the length of a clave")
}
