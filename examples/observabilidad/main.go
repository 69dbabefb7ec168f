// Observabilidad observes a client with only the standard library: a log of its errors, metrics at /debug/vars, and a line
// for each operation with the time that its caller waited.
//
//	go run ./examples/observabilidad
//	curl http://127.0.0.1:8086/debug/vars
//
// It calls a mock in this process, or the service of FISCOPE_BASE_URL and FISCOPE_API_KEY. With OpenTelemetry, package
// otelfiscope does all of this: docs/observability.md says how, and what to alert on.
package main

import (
	"context"
	"expvar"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func main() {
	ctx, parar := signal.NotifyContext(context.Background(), os.Interrupt)
	defer parar()
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	client, err := conectar(opciones(logger)...)
	if err != nil {
		logger.Error("observabilidad", "error", err)
		return
	}
	publicar(client)
	servidor := &http.Server{Addr: "127.0.0.1:8086", ReadHeaderTimeout: 5 * time.Second}
	go func() { logger.Error("observabilidad", "error", servidor.ListenAndServe()) }()
	llamar(ctx, client)
	logger.Info("Las métricas están en http://127.0.0.1:8086/debug/vars; Ctrl-C termina")
	<-ctx.Done()
	_ = client.Close(context.Background()) // wait for its last writes and queries
}

// intentos counts attempts, and calls without one, by outcome.
var intentos = expvar.NewMap("fiscope_intentos")

// opciones returns the application's options for its client. Neither the log nor a metric has a RUC, a name or a clave.
func opciones(logger *slog.Logger) []fiscope.Option {
	return []fiscope.Option{
		fiscope.WithLogger(logger),
		fiscope.WithObserver(func(_ context.Context, e fiscope.Event) { // it runs in the call, so it must be fast
			que := fiscope.ErrorClass(e.Err)
			switch {
			case e.Avoided != "":
				que = "ahorrado: " + string(e.Avoided)
			case que == "":
				que = "ok"
			}
			intentos.Add(string(e.Op)+" "+que, 1)
		}),
		fiscope.WithHook(func(ctx context.Context, op fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
			// Start a span of your tracer here, and return a context with it.
			return ctx, func(r fiscope.Response, err error) {
				logger.Info("operación", "op", op, "duración", r.Duration.Round(time.Microsecond), "intentos", r.Attempts,
					"fuente", r.Source, "clase", fiscope.ErrorClass(err))
			}
		}),
		fiscope.WithCache(fiscope.CachePolicy{}),
	}
}

// publicar publishes the client's own counters, and the quota.
func publicar(client *fiscope.Client) {
	expvar.Publish("fiscope", expvar.Func(func() any { return client.Stats() }))
	expvar.Publish("fiscope_cuota", expvar.Func(func() any { return client.RateLimit() }))
}

// llamar makes calls with every outcome that a log should distinguish.
func llamar(ctx context.Context, client *fiscope.Client) {
	for _, ruc := range []string{
		"20131312955", // answered, after a 503 of the mock
		"20131312955", // from the cache
		"2013131295",  // a digit is missing: no query
		"20999999990", // no such taxpayer
	} {
		_, _ = client.Contribuyentes.Consultar(ctx, ruc) // the hook has logged the outcome
	}
	_, _ = client.TipoCambio.MasReciente(ctx)
}

func conectar(opciones ...fiscope.Option) (*fiscope.Client, error) {
	if os.Getenv("FISCOPE_BASE_URL") != "" {
		return fiscope.NewClientFromEnv(opciones...)
	}
	mock, err := mockserver.Start()
	if err != nil {
		return nil, err
	}
	mock.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
	return mock.Client(opciones...), nil
}
