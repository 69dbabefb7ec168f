// Factura is a small HTTP service that fills in an invoice: the customer from a RUC, SUNAT's exchange rate
// for its date, and exact totals in soles and dollars.
//
//	go run ./examples/factura                              # one sample request, on a mock
//	go run ./examples/factura -addr 127.0.0.1:8080 -mock   # serves, with invented answers
//	go run ./examples/factura -addr 127.0.0.1:8080         # serves, with FISCOPE_BASE_URL
//
//	go run ./examples/factura -addr 127.0.0.1:8080 -padron padron.index # the registry answers while the service is down
//
//	curl -H 'Content-Type: application/json' http://127.0.0.1:8080/facturas -d '
//	  {"ruc": "20100070970", "fecha": "2025-07-30", "moneda": "USD",
//	   "lineas": [{"descripcion": "Licencia", "cantidad": 3, "valorUnitario": "333.335"}]}'
//
// The real service is asked with FISCOPE_BASE_URL and FISCOPE_API_KEY; FISCOPE_INSECURE_HTTP=1 allows
// plain http inside a private network. It has no users of its own: leave it on loopback, or behind
// something that has. The index of -padron is made by "fiscope-mock padron import".
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "factura:", err)
		os.Exit(1)
	}
}

const uso = `Uso: factura [-addr DIRECCIÓN] [-mock] [-padron ÍNDICE]

Sirve por HTTP: completa una factura con su cliente, a partir del RUC, con el
tipo de cambio de la SUNAT y con totales exactos. Sin opciones hace un pedido de
muestra, contra un mock en este proceso. No escribe archivos.

  -addr DIRECCIÓN  dónde servir, como 127.0.0.1:8080
  -mock            sirve con un mock en este proceso: las respuestas son
                   inventadas
  -padron ÍNDICE   el índice del padrón reducido, hecho con "fiscope-mock padron
                   import": responde por el servicio mientras este no se puede
                   consultar, y la factura dice de qué día son esos datos

El servicio se indica con las variables FISCOPE_BASE_URL y FISCOPE_API_KEY.
FISCOPE_INSECURE_HTTP=1 permite http en una red privada.
`

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("factura", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	addr := flags.String("addr", "", "")
	mock := flags.Bool("mock", false, "")
	indice := flags.String("padron", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, uso)
		return err
	case err != nil:
		return fmt.Errorf("opción que no existe o no sirve (%w): vea factura -h", err)
	case flags.NArg() > 0:
		return errors.New("no lleva argumentos: vea factura -h")
	}
	if _, err := os.Stat(*indice); *indice != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no existe el archivo %s", *indice)
	}
	baseURL, apiKey := env("FISCOPE_BASE_URL"), env("FISCOPE_API_KEY")
	if baseURL == "" && *addr != "" && !*mock {
		return errors.New("falta FISCOPE_BASE_URL (con -mock, las respuestas son inventadas)")
	}
	ahora := time.Now
	if *mock || baseURL == "" {
		m, err := mockserver.Start()
		if err != nil {
			return err
		}
		defer m.Close()
		*mock, baseURL, apiKey, ahora = true, m.URL, m.APIKey, m.Now
	}

	registro := slog.New(slog.NewTextHandler(stderr, nil))
	opts := []fiscope.Option{
		fiscope.WithLogger(registro),
		fiscope.WithClock(ahora),
		// Customers repeat: each is asked once in 12 hours. While the service is down, or the quota spent,
		// what was known serves two days more, and the answer says so.
		fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 48 * time.Hour}),
	}
	if env("FISCOPE_INSECURE_HTTP") == "1" {
		opts = append(opts, fiscope.WithInsecureHTTP())
	}
	if *indice != "" {
		reserva, err := padron.Open(*indice)
		if err != nil {
			return fmt.Errorf("-padron: %w", err)
		}
		defer func() { _ = reserva.Close() }()
		opts = append(opts, fiscope.WithRespaldo(reserva)) // after what the cache still has
	}
	client, err := fiscope.NewClient(baseURL, apiKey, opts...)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()

	escucha, err := net.Listen("tcp", cmp.Or(*addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	origen := client.String()
	if *mock {
		origen = "un mock: respuestas inventadas"
	}
	fmt.Fprintf(stdout, "Escuchando en http://%s, con %s\n", escucha.Addr(), origen)
	rutas := nuevoServicio(client, ahora, registro).rutas()
	if *addr != "" {
		return servir(ctx, escucha, rutas)
	}

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	fin := make(chan error, 1)
	go func() { fin <- servir(ctx, escucha, rutas) }()
	err = pedirMuestra(ctx, "http://"+escucha.Addr().String(), stdout)
	cancel()
	return errors.Join(err, <-fin)
}
