// Quickstart shows the four operations of fiscope and how their failures look.
//
//	go run ./examples/quickstart
//
// starts a mock server in this process and needs nothing else. With -base-url and -api-key (or
// FISCOPE_BASE_URL and FISCOPE_API_KEY) it asks that server instead, the real service included: then it
// spends four queries, and it validates a receipt (a fifth) only if FISCOPE_SOL_RUC,
// FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE are set.
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

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	baseURL := flags.String("base-url", env("FISCOPE_BASE_URL"), "dirección del servicio; sin ella, un mock en este proceso")
	apiKey := flags.String("api-key", env("FISCOPE_API_KEY"), "clave de API del servicio")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()

	s := sesion{ctx: ctx, out: out, comprobante: comprobanteDeMuestra}
	if *baseURL == "" {
		mock, err := mockserver.Start()
		if err != nil {
			return err
		}
		defer mock.Close()
		s.mock = mock
		*baseURL, *apiKey = mock.URL, mock.APIKey
		s.credenciales = fiscope.CredencialesSOL{
			RUC:     mockserver.RUCSolicitante,
			Usuario: mockserver.UsuarioSOL,
			Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
		}
	} else {
		s.credenciales = fiscope.CredencialesSOL{
			RUC:     env("FISCOPE_SOL_RUC"),
			Usuario: env("FISCOPE_SOL_USUARIO"),
			Clave:   fiscope.NewSecreto(env("FISCOPE_SOL_CLAVE")),
		}
	}

	var opts []fiscope.Option
	if env("FISCOPE_INSECURE_HTTP") == "1" { // plain http inside a private network
		opts = append(opts, fiscope.WithInsecureHTTP())
	}
	client, err := fiscope.NewClient(*baseURL, *apiKey, opts...)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	s.client = client

	s.presentar(*baseURL)
	s.consultar()
	s.buscar()
	s.validar()
	s.tipoCambio()
	s.fallos()
	s.despedir()
	return s.err
}
