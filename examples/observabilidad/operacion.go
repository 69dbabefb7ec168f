package main

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
)

// operacion makes a span of one call, above those of its attempts: a call that was tried three times is
// one span with three below it, and one that the cache answered has none.
//
// An answer of the kind "nobody has that RUC" is no failure of the service: its span is not an error, or
// the alarms of a busy day would be about mistyped numbers.
func operacion[T any](ctx context.Context, tracer trace.Tracer, op fiscope.Operation, llamar func(context.Context, ...fiscope.CallOption) (T, error)) (T, error) {
	ctx, span := tracer.Start(ctx, "fiscope "+string(op))
	defer span.End()
	var resp fiscope.Response
	valor, err := llamar(ctx, fiscope.WithResponse(&resp))
	span.SetAttributes(
		attribute.Int("fiscope.attempts", resp.Attempts),
		attribute.Bool("fiscope.from_cache", resp.FromCache),
	)
	if err != nil {
		clase := claseDe(err)
		span.SetAttributes(attribute.String("error.type", clase))
		if clase != "not_found" {
			span.SetStatus(codes.Error, clase)
		}
	}
	return valor, err
}

// claseDe names an error by its sentinel: few values, and nothing of what was asked. The text of a
// fiscope error is safe to log, but shows five digits of a RUC.
func claseDe(err error) string {
	for _, c := range []struct {
		err    error
		nombre string
	}{
		{fiscope.ErrNotFound, "not_found"},
		{fiscope.ErrInvalidRequest, "invalid_request"},
		{fiscope.ErrInvalidSOLCredentials, "invalid_sol_credentials"},
		{fiscope.ErrUnauthorized, "unauthorized"},
		{fiscope.ErrQuotaExceeded, "quota_exceeded"},
		{fiscope.ErrUnavailable, "unavailable"},
		{fiscope.ErrMalformedResponse, "malformed_response"},
		{fiscope.ErrRedirect, "redirect"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, c.err) {
			return c.nombre
		}
	}
	return "other"
}
