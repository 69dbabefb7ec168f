// Observabilidad watches fiscope with OpenTelemetry: package otelfiscope makes the spans and the metrics, and
// Prometheus reads the metrics.
//
//	go run ./examples/observabilidad                       # a mock server in this process, one line for each span
//	go run ./examples/observabilidad -json                 # what OpenTelemetry's own stdout exporters write
//	go run ./examples/observabilidad -addr 127.0.0.1:9464  # and then serves /metrics until Ctrl-C
//
// With FISCOPE_BASE_URL and FISCOPE_API_KEY it asks that service instead: three queries at most, without
// faults and without receipts. FISCOPE_INSECURE_HTTP=1 allows plain http, within a private network.
//
// What to copy:
//
//	demostracion.go  conectar: the three lines that an application adds to its client
//	telemetria.go    where it all goes: put your OTLP exporters there
//	prometheus.go    the metrics for Prometheus
//
// docs/observability.md has the names of the metrics, and what to alert on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
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

const uso = `Uso: observabilidad [-json] [-addr DIRECCIÓN]

Muestra los spans y las métricas de OpenTelemetry de unas llamadas de fiscope, a
un mock en este proceso. No lee ni escribe archivos.

  -json            escribe el JSON de los exportadores de OpenTelemetry
  -addr DIRECCIÓN  después sirve las métricas para Prometheus, en /metrics, hasta
                   Ctrl-C; como 127.0.0.1:9464

Con las variables FISCOPE_BASE_URL y FISCOPE_API_KEY pregunta a ese servicio, y
gasta tres consultas. FISCOPE_INSECURE_HTTP=1 permite http en una red privada.
`

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("observabilidad", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	enJSON := flags.Bool("json", false, "")
	addr := flags.String("addr", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return err
	case err != nil:
		return fmt.Errorf("opción que no existe o no sirve (%w): vea observabilidad -h", err)
	case flags.NArg() > 0:
		return errors.New("no lleva argumentos: vea observabilidad -h")
	}
	var escucha net.Listener
	if *addr != "" { // before a query is spent
		var err error
		if escucha, err = net.Listen("tcp", *addr); err != nil {
			return fmt.Errorf("-addr: %w", err)
		}
		defer func() { _ = escucha.Close() }()
	}
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
	err = demostrar(ctx, t, env)
	if err == nil && escucha != nil {
		fmt.Fprintf(out, "\nPrometheus lee las métricas en http://%s/metrics (Ctrl-C termina)\n", escucha.Addr())
		err = servir(ctx, escucha, t.prometheus)
	}
	if !*enJSON {
		fmt.Fprint(out, "\nMétricas (de una duración, cuántas y su media):\n\n")
	}
	// The metrics are collected here for the last time: without it, those of a short program are lost.
	return errors.Join(err, t.cerrar())
}
