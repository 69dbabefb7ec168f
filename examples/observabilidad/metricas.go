package main

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/fiscope/fiscope"
)

// metricas turns the events of fiscope into metrics. Nothing of an event that holds a text is used, and each
// of the attributes has few values: operation, status, class of the error, reason.
type metricas struct {
	intentos  metric.Int64Counter
	duracion  metric.Float64Histogram
	evitadas  metric.Int64Counter
	restantes metric.Int64ObservableGauge
	limite    metric.Int64ObservableGauge
	medidor   metric.Meter
}

func nuevasMetricas(t telemetria) (*metricas, error) {
	m := &metricas{medidor: t.metricas.Meter("github.com/fiscope/fiscope/examples/observabilidad")}
	var errs [5]error
	m.intentos, errs[0] = m.medidor.Int64Counter("fiscope.attempts",
		metric.WithUnit("{attempt}"), metric.WithDescription("Attempts made, retries included: what may have cost a query"))
	m.duracion, errs[1] = m.medidor.Float64Histogram("fiscope.attempt.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of an attempt"),
		// The tax authority can take many seconds for a receipt.
		metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30))
	m.evitadas, errs[2] = m.medidor.Int64Counter("fiscope.queries.avoided",
		metric.WithUnit("{query}"), metric.WithDescription("Calls that spent no query, by reason"))
	m.restantes, errs[3] = m.medidor.Int64ObservableGauge("fiscope.quota.remaining",
		metric.WithUnit("{query}"), metric.WithDescription("Queries left today"))
	m.limite, errs[4] = m.medidor.Int64ObservableGauge("fiscope.quota.limit",
		metric.WithUnit("{query}"), metric.WithDescription("Queries of a day"))
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// observar is for fiscope.WithObserver. It runs in the goroutine of the call, and takes microseconds.
func (m *metricas) observar(e fiscope.Event) {
	ctx := context.Background() // an event is of no trace: its span is that of the attempt
	op := attribute.String("fiscope.operation", string(e.Op))
	if e.FromRespaldo {
		return // the attempts in whose place it is were told before, and the spans show it
	}
	if e.Avoided != "" {
		m.evitadas.Add(ctx, 1, metric.WithAttributes(op, attribute.String("fiscope.reason", string(e.Avoided))))
		return
	}
	cual := []attribute.KeyValue{op, attribute.String("fiscope.status", estado(e))}
	if e.Err != nil {
		cual = append(cual, attribute.String("error.type", fiscope.ErrorClass(e.Err)))
	}
	como := metric.WithAttributeSet(attribute.NewSet(cual...))
	m.intentos.Add(ctx, 1, como, metric.WithAttributes(attribute.Bool("fiscope.retry", e.Attempt > 1)))
	m.duracion.Record(ctx, e.Duration.Seconds(), como)
}

// estado is the HTTP status, or how far an attempt came that has none.
func estado(e fiscope.Event) string {
	if e.StatusCode != 0 {
		return strconv.Itoa(e.StatusCode)
	}
	return e.Delivery.String()
}

// cuota shows the quota of a client whenever the metrics are collected. The events hold it too, but those
// of concurrent calls come in no order, and the client keeps the last.
func (m *metricas) cuota(client *fiscope.Client) error {
	_, err := m.medidor.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		q := client.RateLimit()
		if q == nil {
			return nil
		}
		if q.Remaining != fiscope.NoHeader {
			o.ObserveInt64(m.restantes, int64(q.Remaining))
		}
		if q.Limit != fiscope.NoHeader {
			o.ObserveInt64(m.limite, int64(q.Limit))
		}
		return nil
	}, m.restantes, m.limite)
	return err
}
