package otelfiscope

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// errHook is the error of an operation whose hook panicked.
var errHook = errors.New("otelfiscope: the hook panicked")

// Hook makes a span of each operation, and measures it: give it to [fiscope.WithHook].
func (t *Telemetry) Hook(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
	if !t.made() {
		return ctx, nil
	}
	o := t.begin(ctx, op)
	if t.hook == nil {
		return o.ctx, o.onEnd()
	}
	return o.within(t.hook)
}

// operation is an operation under way.
type operation struct {
	*Telemetry
	ctx    context.Context // with its span
	op     fiscope.Operation
	span   trace.Span // nil if nothing records it
	start  time.Time
	active metric.AddOption // for the metric of those under way
}

func (t *Telemetry) begin(ctx context.Context, op fiscope.Operation) (o *operation) {
	o = &operation{Telemetry: t, ctx: ctx, op: op}
	defer survive()
	within, span := t.tracer.Start(ctx, string(op))
	if within != nil {
		o.ctx = within
	}
	if span.IsRecording() || t.metrics.duration.Enabled(within) || t.metrics.active.Enabled(within) {
		o.span, o.start = span, time.Now()
		o.active = metric.WithAttributes(t.with(operationOf(op))...)
		t.metrics.active.Add(within, 1, o.active)
	}
	return o
}

// onEnd returns the function to call at the end; nil without a span.
func (o *operation) onEnd() func(fiscope.Response, error) {
	if o.span == nil {
		return nil
	}
	return o.end
}

// end ends the span of an operation, and measures it.
func (o *operation) end(resp fiscope.Response, err error) {
	defer survive()
	defer o.span.End()
	o.metrics.active.Add(o.ctx, -1, o.active)
	outcome, class := outcomeOf(err)
	attributes := o.with(operationOf(o.op), outcomeKey.String(outcome), sourceKey.String(sourceOf(resp, class)))
	if class != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(class))
		o.span.SetStatus(codes.Error, "")
	}
	o.metrics.duration.Record(o.ctx, time.Since(o.start).Seconds(), metric.WithAttributes(attributes...))
	o.span.SetAttributes(append(attributes, attemptsKey.Int(resp.Attempts))...)
	if n := len(resp.Warnings); n > 0 {
		o.span.SetAttributes(warningsKey.Int(n))
	}
}

// within calls hook within the span of an operation. It returns hook's context and the function to call at the end,
// which calls hook's own function first.
func (o *operation) within(hook fiscope.Hook) (ctx context.Context, end func(fiscope.Response, error)) {
	onEnd := o.onEnd()
	panicked := true
	defer func() {
		if panicked && onEnd != nil {
			onEnd(fiscope.Response{}, errHook)
		}
	}()
	ctx, own := hook(o.ctx, o.op)
	panicked = false
	if ctx == nil {
		ctx = o.ctx
	}
	if own == nil {
		return ctx, onEnd
	}
	return ctx, func(resp fiscope.Response, err error) {
		if onEnd != nil {
			defer onEnd(resp, err)
		}
		own(resp, err)
	}
}
