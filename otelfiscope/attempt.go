package otelfiscope

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// Observe makes a span of each attempt, and counts the calls that spent no query: pass it to [fiscope.WithObserver].
func (t *Telemetry) Observe(ctx context.Context, e fiscope.Event) {
	defer survive()
	switch {
	case !t.made():
	case e.Avoided != "":
		t.metrics.avoided.Add(ctx, 1, metric.WithAttributes(t.with(operationOf(e.Op), reasonOf(e.Avoided))...))
	case e.Attempt > 0:
		t.attempt(ctx, e)
	}
}

// attempt records an attempt that has just ended.
func (t *Telemetry) attempt(ctx context.Context, e fiscope.Event) {
	ended := time.Now()
	attributes := t.with(semconv.HTTPRequestMethodKey.String(methodOf(e.Op)), operationOf(e.Op))
	if isStatus(e.StatusCode) {
		attributes = append(attributes, semconv.HTTPResponseStatusCode(e.StatusCode))
	}
	_, class := outcomeOf(e.Err)
	if class != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(class))
	}
	within, span := t.tracer.Start(ctx, methodOf(e.Op), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(ended.Add(-e.Duration)), trace.WithAttributes(attributes...))
	if span.IsRecording() {
		if e.Attempt > 1 {
			span.SetAttributes(semconv.HTTPRequestResendCount(e.Attempt - 1))
		}
		if e.StatusCode == 0 {
			span.SetAttributes(deliveryOf(e.Delivery))
		}
		if class != "" {
			span.SetStatus(codes.Error, "")
		}
		span.End(trace.WithTimestamp(ended))
	}
	if t.metrics.requests.Enabled(within) {
		t.metrics.requests.Record(within, e.Duration.Seconds(), metric.WithAttributes(attributes...))
	}
	if e.Attempt > 1 {
		t.metrics.retries.Add(within, 1, metric.WithAttributes(t.with(operationOf(e.Op))...))
	}
}
