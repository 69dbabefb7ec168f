// Quickstart shows the four operations of fiscope and how their failures look.
//
//	go run ./examples/quickstart
//
// starts a mock server in this process and needs nothing else. With FISCOPE_BASE_URL (or -base-url) and
// FISCOPE_API_KEY it asks that server instead, the real service included: then it spends four queries, and it
// validates a receipt (a fifth) only if FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE are set.
//
// No secret has a flag: the arguments of a program are seen by everybody on its machine.
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

const uso = `Uso: quickstart [-base-url DIRECCIÓN]

Muestra las cuatro operaciones de fiscope y cómo se ven sus fallos, contra un
mock en este proceso. No lee ni escribe archivos.

  -base-url DIRECCIÓN  pregunta a ese servicio (FISCOPE_BASE_URL): gasta cuatro
                       consultas

El servicio necesita la variable FISCOPE_API_KEY. Un comprobante se valida, con
otra consulta, si están FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y
FISCOPE_SOL_CLAVE, de un usuario SOL secundario. FISCOPE_INSECURE_HTTP=1 permite
http en una red privada.
`

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	baseURL := flags.String("base-url", env("FISCOPE_BASE_URL"), "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return err
	case err != nil:
		return fmt.Errorf("opción que no existe o no sirve (%w): vea quickstart -h", err)
	case flags.NArg() > 0:
		return errors.New("no lleva argumentos: vea quickstart -h")
	}
	apiKey := env("FISCOPE_API_KEY")
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
		*baseURL, apiKey = mock.URL, mock.APIKey
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
	client, err := fiscope.NewClient(*baseURL, apiKey, opts...)
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
