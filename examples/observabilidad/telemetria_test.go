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
	tel, err := nuevaTelemetria(trace.NewSimpleSpanProcessor(spans), lector)
	require.NoError(t, err)
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

func TestSpansHoldNobodysData(t *testing.T) {
	tel, spans, recoger := enMemoria(t)
	require.NoError(t, demostrar(t.Context(), tel, env()))
	vistos := spans.GetSpans()
	assert.Equal(t, []string{
		"GET", "Contribuyentes.Consultar", // answered
		"Contribuyentes.Consultar",           // from the cache
		"Contribuyentes.Consultar",           // refused locally
		"GET", "GET", "TipoCambio.Consultar", // a retry
		"GET", "Contribuyentes.Buscar",
		"GET", "Contribuyentes.Consultar", // not found
		"POST", "CPE.Validar",
		"POST", "CPE.Validar", // refused by the tax authority
		"CPE.Validar", // and not sent again
		"emitir factura",
	}, nombres(vistos))
	texto := todo(vistos, recoger())
	sinNadaAjeno(t, texto)
	assert.Contains(t, texto, "fiscope.operation", "or this test proves nothing")

	padre := map[string]string{}
	for _, s := range vistos {
		padre[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range vistos[4:6] {
		assert.Equal(t, "TipoCambio.Consultar", padre[s.Parent.SpanID().String()])
	}
	noExiste := vistos[10]
	assert.Contains(t, noExiste.Attributes, attribute.String("fiscope.outcome", "not_found"))
	assert.Equal(t, codes.Unset, noExiste.Status.Code, "an answer is no alarm")
	assert.Equal(t, codes.Error, vistos[3].Status.Code)
}

func TestMetricsCountWhatWasPaidAndWhatWasNot(t *testing.T) {
	tel, _, recoger := enMemoria(t)
	require.NoError(t, demostrar(t.Context(), tel, env()))
	series := map[string][]string{}
	for _, scope := range recoger().ScopeMetrics {
		for _, m := range scope.Metrics {
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
		"error.type=invalid_sol_credentials,fiscope.operation=CPE.Validar,http.request.method=POST,http.response.status_code=401 1",
		"error.type=unavailable,fiscope.operation=TipoCambio.Consultar,http.request.method=GET,http.response.status_code=503 1",
		"fiscope.operation=CPE.Validar,http.request.method=POST,http.response.status_code=200 1",
		"fiscope.operation=Contribuyentes.Buscar,http.request.method=GET,http.response.status_code=200 1",
		"fiscope.operation=Contribuyentes.Consultar,http.request.method=GET,http.response.status_code=200 1",
		"fiscope.operation=Contribuyentes.Consultar,http.request.method=GET,http.response.status_code=404 1",
		"fiscope.operation=TipoCambio.Consultar,http.request.method=GET,http.response.status_code=200 1",
	}, series["http.client.request.duration"])
	assert.Equal(t, []string{"fiscope.operation=TipoCambio.Consultar 1"}, series["fiscope.retries"])
	assert.Equal(t, []string{
		"fiscope.avoided.reason=cached,fiscope.operation=Contribuyentes.Consultar 1",
		"fiscope.avoided.reason=invalid,fiscope.operation=Contribuyentes.Consultar 1",
		"fiscope.avoided.reason=sol,fiscope.operation=CPE.Validar 1",
	}, series["fiscope.queries.avoided"])
	assert.Equal(t, []string{" 1000"}, series["fiscope.quota.limit"])
	assert.Equal(t, []string{" 995"}, series["fiscope.quota.remaining"], "as the last lookup said")
	assert.Len(t, series["fiscope.quota.reset.timestamp"], 1)
}
