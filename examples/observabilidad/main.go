// Observabilidad watches fiscope with OpenTelemetry: traces through WithHook and WithHTTPClient,
// metrics through WithObserver. The SDK itself depends on neither.
//
//	go run ./examples/observabilidad         # a mock server in this process, one line for each span
//	go run ./examples/observabilidad -json   # what OpenTelemetry's own stdout exporters write
//
// With FISCOPE_BASE_URL and FISCOPE_API_KEY it asks that service instead: three queries at most, without
// faults and without receipts. FISCOPE_INSECURE_HTTP=1 allows plain http, within a private network.
//
// What to copy:
//
//	transporte.go  spans of the HTTP requests that carry no RUC, no name, no key
//	metricas.go    attempts, durations, queries avoided, quota left
//	operacion.go   a span of each operation, above those of its attempts
//	telemetria.go  where it all goes: put your OTLP exporters there
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "observabilidad:", err)
		os.Exit(1)
	}
}

const uso = `Uso: observabilidad [-json]

Muestra los spans y las métricas de OpenTelemetry de unas llamadas de fiscope, a
un mock en este proceso. No lee ni escribe archivos.

  -json  escribe el JSON de los exportadores de OpenTelemetry

Con las variables FISCOPE_BASE_URL y FISCOPE_API_KEY pregunta a ese servicio, y
gasta tres consultas. FISCOPE_INSECURE_HTTP=1 permite http en una red privada.
`

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("observabilidad", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	enJSON := flags.Bool("json", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return err
	case err != nil:
		return fmt.Errorf("opción que no existe o no sirve (%w): vea observabilidad -h", err)
	case flags.NArg() > 0:
		return errors.New("no lleva argumentos: vea observabilidad -h")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()

	nueva := enLineas
	if *enJSON {
		nueva = enJSONDeOpenTelemetry
	}
	t, err := nueva(out)
	if err != nil {
		return err
	}
	if !*enJSON {
		fmt.Fprint(out, "Cada línea es un span: nombre, duración y atributos; sangrado, un intento HTTP.\n\n")
	}
	demostrado := demostrar(ctx, t, env)
	if !*enJSON {
		fmt.Fprint(out, "\nMétricas (de una duración, cuántas y su media):\n\n")
	}
	// The metrics are collected here for the last time: without it, those of a short program are lost.
	return errors.Join(demostrado, t.cerrar())
}
