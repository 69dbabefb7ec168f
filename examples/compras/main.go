// Compras validates the receipts of a purchase ledger before they are paid.
//
//	go run ./examples/compras                  # the sample, on a mock in this process
//	go run ./examples/compras compras.csv      # against FISCOPE_BASE_URL
//
// The file is a CSV with the columns rucEmisor, tipo and comprobante ("F001-00000123", or serie and
// numero apart), and importe and proveedor if they are there: see muestra.csv. The files of SUNAT's SIRE are
// read as they are. Each receipt costs one
// query, and so does each issuer of an accepted one, who must be "activo y habido": if not, the tax credit
// is in danger.
//
// Against a real service it needs FISCOPE_BASE_URL and FISCOPE_API_KEY, and a secondary SOL user in
// FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO and FISCOPE_SOL_CLAVE. FISCOPE_INSECURE_HTTP=1 allows plain http
// inside a private network.
//
// Exit codes, for cron:
//
//	0  all receipts can be paid
//	1  something is to be looked at: the report says what
//	2  it could not run, or not to the end: what was not validated is not to be paid
//
// A clave that SUNAT refuses is never sent again, not by the next run either: see memoria.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errPorRevisar is the end of a run that went well and found something.
var errPorRevisar = errors.New("hay comprobantes por revisar")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	codigo := codigoDeSalida(err)
	if codigo == 2 {
		fmt.Fprintln(os.Stderr, "compras:", explicar(err))
	}
	os.Exit(codigo)
}

func codigoDeSalida(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errPorRevisar):
		return 1
	}
	return 2
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	a, err := leerAjustes(args, env, out)
	if err != nil {
		return err
	}
	defer a.cerrar()
	renglones, err := leerRenglones(a.datos)
	if err != nil {
		return err
	}
	if len(renglones) == 0 {
		return fmt.Errorf("%s no trae ningún comprobante", a.archivo)
	}

	r := revision{client: a.client, credenciales: a.credenciales, renglones: renglones}
	if err = r.validar(ctx); err == nil {
		err = r.consultarEmisores(ctx)
	}
	r.informar(out, a)
	switch {
	case err != nil:
		return err
	case r.legibles() == 0:
		return fmt.Errorf("ninguna línea de %s se pudo leer", a.archivo)
	case r.pagables() < len(renglones):
		return errPorRevisar
	}
	return nil
}
