package otelfiscope

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
)

// instruments are the metrics.
type instruments struct {
	duration metric.Float64Histogram
	active   metric.Int64UpDownCounter
	requests metric.Float64Histogram
	retries  metric.Int64Counter
	avoided  metric.Int64Counter

	limit, remaining, reset metric.Int64ObservableGauge
}

// The bounds of the histograms, in seconds. Those of requests are the conventions'; those of operations separate cached
// answers from the service's, and cover the waits for the tax authority.
var (
	operationBounds = metric.WithExplicitBucketBoundaries(.0001, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60)
	requestBounds   = metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10)
)

func newInstruments(m metric.Meter) (i instruments, err error) {
	var errs [8]error
	i.duration, errs[0] = m.Float64Histogram("fiscope.operation.duration", metric.WithUnit("s"), operationBounds,
		metric.WithDescription("Duration of an operation, with its retries and waits"))
	i.active, errs[1] = m.Int64UpDownCounter("fiscope.active_operations", metric.WithUnit("{operation}"),
		metric.WithDescription("Operations under way"))
	var convention httpconv.ClientRequestDuration
	i.requests, errs[2] = m.Float64Histogram(convention.Name(), metric.WithUnit(convention.Unit()), requestBounds,
		metric.WithDescription(convention.Description()))
	i.retries, errs[3] = m.Int64Counter("fiscope.retries", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts after the first of an operation"))
	i.avoided, errs[4] = m.Int64Counter("fiscope.queries.avoided", metric.WithUnit("{query}"),
		metric.WithDescription("Calls that spent no query, by reason"))
	i.limit, errs[5] = m.Int64ObservableGauge("fiscope.quota.limit", metric.WithUnit("{query}"),
		metric.WithDescription("Queries of a day, as the last answer said"))
	i.remaining, errs[6] = m.Int64ObservableGauge("fiscope.quota.remaining", metric.WithUnit("{query}"),
		metric.WithDescription("Queries left until the reset, as the last answer said"))
	i.reset, errs[7] = m.Int64ObservableGauge("fiscope.quota.reset.timestamp", metric.WithUnit("s"),
		metric.WithDescription("When the quota is reset, in seconds since 1970, as the last answer said"))
	return i, errors.Join(errs[:]...)
}
