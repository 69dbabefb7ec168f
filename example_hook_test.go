package fiscope_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fiscope/fiscope"
)

// tracer is a tracer in a few lines: with OpenTelemetry's, start is trace.Tracer.Start, and end is
// span.SetAttributes, span.SetStatus and span.End.
type tracer struct{}

type parentOfSpan struct{}

func (tracer) start(ctx context.Context, name string) (context.Context, *tracedSpan) {
	parent, _ := ctx.Value(parentOfSpan{}).(*tracedSpan)
	s := &tracedSpan{name: name}
	if parent != nil {
		s.name = parent.name + " > " + name
	}
	return context.WithValue(ctx, parentOfSpan{}, s), s
}

type tracedSpan struct{ name string }

func (s *tracedSpan) end(attributes ...any) { fmt.Println(s.name, fmt.Sprint(attributes...)) }

// A hook makes a span of each operation. What a transport of yours makes of its requests is within it.
func ExampleWithHook() {
	srv := server()
	defer srv.Close()
	var spans tracer
	client, err := fiscope.NewClient(srv.URL, srv.APIKey, fiscope.WithHook(
		func(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			ctx, span := spans.start(ctx, string(op))
			return ctx, func(resp fiscope.Response, err error) {
				span.end("attempts=", resp.Attempts, " class=", fiscope.ErrorClass(err))
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()

	ctx, span := spans.start(context.Background(), "invoice")
	_, _ = client.Contribuyentes.Consultar(ctx, "20131312955")
	_, _ = client.Contribuyentes.Consultar(ctx, "2013131295") // a digit is missing
	_, _ = client.TipoCambio.SUNAT(ctx, fiscope.NewFecha(2024, 7, 29))
	span.end()
	// Output:
	// invoice > Contribuyentes.Consultar attempts=1 class=
	// invoice > Contribuyentes.Consultar attempts=0 class=invalid_request
	// invoice > TipoCambio.SUNAT > TipoCambio.Consultar attempts=1 class=
	// invoice > TipoCambio.SUNAT attempts=1 class=
	// invoice
}
