package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
)

// lectorDePrometheus returns a reader of the metrics, and what shows them to Prometheus at /metrics, by the names
// that it has had for ever: fiscope.queries.avoided is fiscope_queries_avoided_total.
func lectorDePrometheus() (metric.Reader, http.Handler, error) {
	registro := prometheus.NewRegistry()
	lector, err := otelprometheus.New(otelprometheus.WithRegisterer(registro),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, nil, err
	}
	rutas := http.NewServeMux()
	// OpenMetrics has the exemplars: from a slow bar of a histogram to its trace.
	rutas.Handle("GET /metrics", promhttp.HandlerFor(registro, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	return lector, rutas, nil
}

// servir serves until the context ends.
func servir(ctx context.Context, escucha net.Listener, rutas http.Handler) error {
	servidor := &http.Server{ // who is slow or silent holds no connection for long
		Handler:           rutas,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
	}
	fin := make(chan error, 1)
	go func() { fin <- servidor.Serve(escucha) }()
	select {
	case err := <-fin:
		return err
	case <-ctx.Done():
	}
	plazo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := servidor.Shutdown(plazo)
	if served := <-fin; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
