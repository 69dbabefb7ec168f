// Pruebas shows how to test your own code with the mock server: data, faults, the clock, the quota and a
// SOL user. compra.go is the code, compra_test.go are the tests to copy:
//
//	go test ./examples/pruebas
//
// This program walks through the same with words. It uses the mock only: no real service is ever asked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "pruebas:", err)
		os.Exit(1)
	}
}

// paso is one scene: what is arranged in the mock, and what the code then decides.
type paso struct {
	titulo   string
	preparar func(*mockserver.Server)
	clave    string
}

var pasos = []paso{
	{"Todo bien", func(*mockserver.Server) {}, mockserver.ClaveSOL},
	{"Un 500 y después la respuesta: el cliente reintenta la consulta", func(s *mockserver.Server) {
		s.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK)
	}, mockserver.ClaveSOL},
	{"Una respuesta pagada que se pierde: la validación no se repite", func(s *mockserver.Server) {
		s.Fault(mockserver.Match{Op: mockserver.OpValidar}, mockserver.ResetBefore)
	}, mockserver.ClaveSOL},
	{"La SUNAT no responde", func(s *mockserver.Server) { s.SetSUNATDown(true) }, mockserver.ClaveSOL},
	{"La cuota se agotó", func(s *mockserver.Server) { _ = s.PutKey(s.APIKey, 0) }, mockserver.ClaveSOL},
	{"La clave SOL está errada", func(*mockserver.Server) {}, "no-es-la-clave"},
}

const uso = `Uso: pruebas

Muestra qué decide el programa de compra.go ante lo que un mock en este proceso
le prepara: fallos, la cuota, una clave SOL errada. Nunca pregunta a un servicio
real. No lee ni escribe archivos.

Las pruebas para copiar están en compra_test.go.
`

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pruebas", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is said by main
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, uso)
		return err
	case err != nil:
		return fmt.Errorf("opción que no existe (%w): vea pruebas -h", err)
	case flags.NArg() > 0:
		return errors.New("no lleva argumentos: vea pruebas -h")
	}
	fmt.Fprintln(out, "Qué decide el programa de compra.go, contra un mock de este proceso:")
	for _, p := range pasos {
		if err := p.mostrar(ctx, out); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "\nLo mismo, como pruebas para copiar: examples/pruebas/compra_test.go")
	return nil
}

func (p paso) mostrar(ctx context.Context, out io.Writer) error {
	srv, err := mockserver.Start()
	if err != nil {
		return err
	}
	defer srv.Close()
	p.preparar(srv)
	client := srv.Client()
	defer client.CloseIdleConnections()

	c := compra{client, fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(p.clave)}}
	d, err := c.decidir(ctx, fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n  decide: %s (llamadas: %d)\n", p.titulo, d, len(srv.Requests()))
	return nil
}
