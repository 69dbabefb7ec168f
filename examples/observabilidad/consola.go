package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	otrace "go.opentelemetry.io/otel/trace"
)

// consola is an exporter for people: a line or two for each span and for each series of a metric. It is
// of this example only; yours are OTLP's.
type consola struct {
	mu  sync.Mutex
	out io.Writer
}

// ExportSpans writes the spans.
func (c *consola) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range spans {
		sangria := ""
		if s.SpanKind() == otrace.SpanKindClient {
			sangria = "  "
		}
		marca := "·"
		if s.Status().Code == codes.Error {
			marca = "✗"
		}
		fmt.Fprintf(c.out, "%s%s %-*s %8s\n", sangria, marca, 52-len(sangria), s.Name(), s.EndTime().Sub(s.StartTime()).Round(10*time.Microsecond))
		c.atributos(sangria+"  ", s.Attributes())
	}
	return nil
}

// Shutdown does nothing.
func (c *consola) Shutdown(context.Context) error { return nil }

// atributos writes them folded into lines of at most 78 columns.
func (c *consola) atributos(linea string, atributos []attribute.KeyValue) {
	sangria := strings.Repeat(" ", len([]rune(linea)))
	for _, a := range atributos {
		texto := fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
		if len([]rune(linea+texto)) > 78 && strings.TrimSpace(linea) != "" {
			fmt.Fprintln(c.out, linea)
			linea = sangria
		}
		linea += texto
	}
	if strings.TrimSpace(linea) != "" {
		fmt.Fprintln(c.out, strings.TrimRight(linea, " "))
	}
}
