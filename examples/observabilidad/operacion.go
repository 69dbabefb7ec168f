package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// operaciones makes a span of each operation, for fiscope.WithHook. It is above those of its attempts: a call
// that was tried three times is one span with three below it, and one that the cache answered has none.
//
// The error of a span is a word (fiscope.ErrorClass), which holds nothing of what was asked: the text of a
// fiscope error is safe to log, but shows five digits of a RUC.
//
// An answer of the kind "nobody has that RUC" is no failure of the service: its span is not an error, or
// the alarms of a busy day would be about mistyped numbers.
func operaciones(tracer trace.Tracer) fiscope.Hook {
	return func(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
		ctx, span := tracer.Start(ctx, "fiscope "+string(op))
		return ctx, func(resp fiscope.Response, err error) {
			defer span.End()
			span.SetAttributes(
				attribute.Int("fiscope.attempts", resp.Attempts),
				attribute.Bool("fiscope.from_cache", resp.FromCache),
				attribute.Bool("fiscope.from_respaldo", resp.FromRespaldo),
			)
			if err == nil {
				return
			}
			clase := fiscope.ErrorClass(err)
			span.SetAttributes(attribute.String("error.type", clase))
			if clase != "not_found" && clase != "not_yet_published" {
				span.SetStatus(codes.Error, clase)
			}
		}
	}
}
