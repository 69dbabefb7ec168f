package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// telemetria is where the spans and the metrics of this program go. It is handed around rather than made
// global, so that a test has its own.
type telemetria struct {
	spans      *trace.TracerProvider
	metricas   *metric.MeterProvider
	prometheus http.Handler // the metrics, as Prometheus reads them
}

// nuevaTelemetria sends the spans to procesador and the metrics to lector, and has these ready for Prometheus.
//
// In production: otlptracegrpc.New(ctx) in trace.NewBatchSpanProcessor, and otlpmetricgrpc.New(ctx) in
// metric.NewPeriodicReader, or Prometheus alone. The rest stays as it is.
func nuevaTelemetria(procesador trace.SpanProcessor, lector metric.Reader) (telemetria, error) {
	paraPrometheus, rutas, err := lectorDePrometheus()
	if err != nil {
		return telemetria{}, err
	}
	quien := resource.NewSchemaless(semconv.ServiceName("facturador"), semconv.ServiceVersion("1.0.0"))
	return telemetria{
		spans:      trace.NewTracerProvider(trace.WithSpanProcessor(procesador), trace.WithResource(quien)),
		metricas:   metric.NewMeterProvider(metric.WithReader(lector), metric.WithReader(paraPrometheus), metric.WithResource(quien)),
		prometheus: rutas,
	}, nil
}

// enLineas writes for people. A span is written when it ends, so that of a call comes after those of its
// attempts.
func enLineas(out io.Writer) (telemetria, error) {
	c := &consola{out: out}
	return nuevaTelemetria(trace.NewSimpleSpanProcessor(c), metric.NewPeriodicReader(metricasEnConsola{c}))
}

// enJSONDeOpenTelemetry writes all there is, for programs.
func enJSONDeOpenTelemetry(out io.Writer) (telemetria, error) {
	spans, errSpans := stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint())
	metricas, errMetricas := stdoutmetric.New(stdoutmetric.WithWriter(out), stdoutmetric.WithPrettyPrint())
	if err := errors.Join(errSpans, errMetricas); err != nil {
		return telemetria{}, err
	}
	return nuevaTelemetria(trace.NewSimpleSpanProcessor(spans), metric.NewPeriodicReader(metricas))
}

// cerrar sends what was not sent yet. It has a time of its own: the context of a program that was
// interrupted is over by then.
func (t telemetria) cerrar() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(t.spans.Shutdown(ctx), t.metricas.Shutdown(ctx))
}
