// Lote looks up every RUC of a CSV and writes the CSV again with what the registry says of each.
//
//	go run ./examples/lote                                # a sample, on a mock server in this process
//	go run ./examples/lote -n 5000 -cuota 2000            # 5000 invented RUCs; the quota ends on the way
//	go run ./examples/lote -mock proveedores.csv          # your file, to see whether it is read well
//	go run ./examples/lote -reserva 200 proveedores.csv   # your file, on the real service
//
// The real service is that of FISCOPE_BASE_URL and FISCOPE_API_KEY (FISCOPE_INSECURE_HTTP=1 allows
// plain http, within a private network). The key has no flag: the arguments of a program are seen by
// everybody on its machine.
//
// Every answer is appended to PROVEEDORES.avance as it comes, and an answer that is there is never paid
// again within 30 days (-vigencia): after Ctrl-C, the end of the quota, a power cut or a correction in the input, run the same
// command. See avance.go. The output is made anew from it at every stop, whole and in the input's order.
//
// Ubigeo is written ="010101", of which a spreadsheet makes no number.
//
// It ends with 0 when every good row has its answer, with 3 when some are left for another run, and with
// 1 when something must be corrected first.
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
	"time"
)

// errIncompleto is what run returns when another run goes on from here: all was said already.
var errIncompleto = errors.New("quedan RUC por consultar")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once; nothing that was stored is lost
	switch err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errIncompleto):
		os.Exit(3)
	default:
		fmt.Fprintln(os.Stderr, "lote:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	o, err := leerOpciones(args, env, out)
	if err != nil {
		return err
	}
	if err := o.prepararEntrada(); err != nil {
		return err
	}
	e, err := abrirEntrada(o.entrada, o.columna)
	if err != nil {
		return err
	}
	servicio, err := o.conectar()
	if err != nil {
		return err
	}
	defer servicio.cerrar()
	avance, err := abrirAvance(o.carpetaAvance(), servicio.nombre, o.deNuevo, time.Duration(o.vigencia)*24*time.Hour)
	if err != nil {
		return err
	}
	defer avance.cerrar()
	if err := o.salidaLibre(avance); err != nil {
		return err
	}

	i := informe{out: out}
	i.presentar(e, servicio)
	r, err := revisar(e, avance)
	if err != nil {
		return err
	}
	i.revision(r, o)

	l := lote{client: servicio.client, avance: avance, paralelo: o.paralelo, sinRespuesta: map[string]string{}}
	causa, err := l.consultar(ctx, r.pendientes, nuevoProgreso(out, len(r.pendientes)))
	// Whatever stopped it, what was answered is published: that costs no query.
	if publicada := publicar(o.salida, e, r.ancho, avance, l.sinRespuesta); publicada != nil {
		return errors.Join(err, fmt.Errorf("%w\n(las respuestas están a salvo en %s: corrija esto y repita)", publicada, o.carpetaAvance()))
	}
	if err != nil {
		return err
	}
	return i.despedir(o, r, &l, causa)
}
