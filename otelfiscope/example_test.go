package otelfiscope_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/otelfiscope"
)

// The spans of a call that is tried twice, and of one that the cache answers. Yours go to your own provider, or
// to the global one.
func Example() {
	srv, err := mockserver.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
	spans := tracetest.NewInMemoryExporter()

	telemetry, err := otelfiscope.New(otelfiscope.WithTracerProvider(trace.NewTracerProvider(trace.WithSyncer(spans))))
	if err != nil {
		log.Fatal(err)
	}
	client, err := fiscope.NewClient(srv.URL, srv.APIKey, fiscope.WithCache(fiscope.CachePolicy{}),
		fiscope.WithHook(telemetry.Hook), fiscope.WithObserver(telemetry.Observe))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()
	if _, err := telemetry.ObserveQuota(client); err != nil {
		log.Fatal(err)
	}

	for range 2 {
		if _, err := client.Contribuyentes.Consultar(context.Background(), "20131312955"); err != nil {
			log.Fatal(err)
		}
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.SpanKind, s.Status.Code)
	}
	// Output:
	// GET client Error
	// GET client Unset
	// Contribuyentes.Consultar internal Unset
	// Contribuyentes.Consultar internal Unset
}
