// Command fiscope queries the fiscal data service from a terminal: taxpayers, receipts and exchange rates, one by one or for
// the rows of a CSV.
//
// Its help has the variables and the exit status. Secrets have no flags: other users of the machine can see the arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/build"
)

// status is the exit status of a command that has printed its error.
type status int

const (
	allWell    status = 0
	wrongUse   status = 1
	problem    status = 2
	unfinished status = 3
)

func (s status) Error() string { return fmt.Sprintf("status %d", int(s)) }

const rootHelp = `{{.Usage}}

Uso: fiscope COMANDO [OPCIONES] [ARGUMENTO]

Comandos:
{{range .VisibleCommands}}  {{.Name}}{{"\t"}}{{.Usage}}
{{end}}  help{{"\t"}}la ayuda de un comando, como fiscope help lote

El servicio se indica con las variables FISCOPE_BASE_URL y FISCOPE_API_KEY;
FISCOPE_INSECURE_HTTP=1 permite http en una red privada. cpe y compras necesitan
un usuario SOL secundario: FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y
FISCOPE_SOL_CLAVE. Con -mock responde un mock en este proceso: sus datos son
inventados. Si no hay ninguna de las seis, se leen (NOMBRE=VALOR) del archivo
fiscope/env de su carpeta de configuración, que solo usted debe poder leer.

Sale con 0 si todo está bien; con 1 si hay que corregir un dato, una variable o
el comando; con 2 si una respuesta muestra un problema (no existe, no habido,
anulado); y con 3 si algo quedó sin terminar y hay que repetir el comando.
`

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals // a second Ctrl-C ends the program at once; answers are stored already
		_, _ = fmt.Fprintln(os.Stderr, "\nfiscope: cortado. El mismo comando sigue donde quedó.")
		os.Exit(int(unfinished))
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	terminal.SpeakSpanish()
	root := &cli.Command{
		Name:                            "fiscope",
		Usage:                           "fiscope: contribuyentes, comprobantes y tipo de cambio, desde la terminal",
		Version:                         fmt.Sprintf("fiscope %s %s %s/%s", build.Read().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		HideHelpCommand:                 true,
		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: terminal.Completion("fiscope"),
		CustomRootCommandHelpTemplate:   rootHelp,
		Writer:                          stdout,
		ErrWriter:                       stderr,
		ExitErrHandler:                  func(context.Context, *cli.Command, error) {},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.NArg() == 0 {
				return cli.ShowRootCommandHelp(cmd)
			}
			return terminal.UnknownCommand(cmd, cmd.Args().First())
		},
		Commands: []*cli.Command{
			{Name: "ruc", Usage: "un contribuyente, por su RUC", UsageText: "fiscope ruc [OPCIONES] RUC",
				Flags: flags(padronFlag), Action: one("RUC", call(showRUC))},
			{Name: "buscar", Usage: "contribuyentes, por parte de su nombre", UsageText: "fiscope buscar [OPCIONES] NOMBRE",
				Flags: flags(&cli.IntFlag{Name: "limite", DefaultText: "N", Usage: "cuántos, de 1 a 50; 10 por defecto", Value: 10, Local: true}), Action: call(searchName)},
			{Name: "cpe", Usage: "si un comprobante es válido", UsageText: "fiscope cpe [OPCIONES] COMPROBANTE",
				Description: "COMPROBANTE es como 20100070970-01-F001-123: RUC, tipo (01 factura, 03 boleta,\n07 nota de crédito, 08 nota de débito), serie y número. O el nombre de su XML, o\nel texto de su QR entre comillas.",
				Flags:       flags(memoryFlag, forgetFlag), Action: one("COMPROBANTE", call(showCPE))},
			{Name: "tc", Usage: "el tipo de cambio de la SUNAT para un comprobante de una fecha", UsageText: "fiscope tc [OPCIONES] [FECHA | MES]",
				Description: "FECHA es como 2026-11-20 o 20/11/2026; por defecto, hoy. Un MES, como 2026-11,\nda su tabla: cuesta una consulta por día hábil.",
				Flags:       flags(&cli.StringFlag{Name: "salida", DefaultText: "ARCHIVO.csv", Usage: "escribe la tabla de un MES para Excel", Local: true}), Action: call(showRate)},
			{Name: "lote", Usage: "cada RUC de un CSV, con lo que el padrón dice de él", UsageText: "fiscope lote [OPCIONES] ENTRADA.csv",
				Description: batchDescription, Action: one("archivo", runLote),
				Flags: flags(append(batchFlags(), padronFlag, &cli.StringFlag{Name: "columna", DefaultText: "COLUMNA", Usage: "la del RUC, por su título o su posición desde 1; si no, se busca", Local: true})...)},
			{Name: "compras", Usage: "si los comprobantes de un CSV se pueden pagar", UsageText: "fiscope compras [OPCIONES] ENTRADA.csv",
				Description:               "Valida cada comprobante, y consulta el emisor de los aceptados. ENTRADA tiene\nlas columnas rucEmisor, tipo y comprobante (o serie y numero) y, opcionales,\nimporte y proveedor; también sirven los del SIRE y del PLE (8.1).\n\n" + batchDescription,
				DisableSliceFlagSeparator: true, // a title may have a comma
				Flags: flags(append(batchFlags(), padronFlag, memoryFlag, forgetFlag, &cli.StringSliceFlag{Name: "columna", DefaultText: "NOMBRE=COLUMNA",
					Usage: "la de emisor, tipo, serie, numero, comprobante o importe, por su título\n      o su posición desde 1; si no, se busca. Puede repetirse", Local: true})...), Action: one("archivo", runCompras)},
			{Name: "cuota", Usage: "cuántas consultas quedan hoy", UsageText: "fiscope cuota [OPCIONES]",
				Description: "Cuesta una consulta: el servicio lo dice al consultar un RUC.",
				Flags:       flags(), Action: call(showQuota)},
			serveCommand(),
			{Name: "version", Usage: "la versión y el commit", UsageText: "fiscope version", Action: func(_ context.Context, cmd *cli.Command) error { cli.ShowVersion(cmd); return nil }},
			{Name: "help", Usage: "la ayuda de un comando, como fiscope help lote", UsageText: "fiscope help [COMANDO]", Action: terminal.ShowHelp},
		},
	}
	_ = root.Walk(func(c *cli.Command) error { c.OnUsageError = terminal.UsageError; return nil })
	err := root.Run(ctx, append([]string{root.Name}, args...))
	exit := statusOf(err)
	if said := status(0); err != nil && !errors.As(err, &said) {
		printer{out: stderr}.behind("fiscope: ", explain(err))
		if wrong := (terminal.WrongUsage{}); errors.As(err, &wrong) {
			_, _ = fmt.Fprintln(stderr, strings.TrimSpace("vea fiscope help "+wrong.Of))
		}
	}
	return int(exit)
}

// statusOf returns the exit status for an error.
func statusOf(err error) status {
	said, of := status(0), (*fiscope.Error)(nil)
	switch {
	case err == nil:
		return allWell
	case errors.As(err, &said):
		return said
	case errors.Is(err, context.Canceled), errors.Is(err, fiscope.ErrNotYetPublished):
		return unfinished
	case errors.Is(err, fiscope.ErrNotFound):
		return problem
	case !errors.As(err, &of), errors.Is(err, fiscope.ErrInvalidRequest), errors.Is(err, fiscope.ErrUnauthorized), errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		return wrongUse
	}
	return unfinished
}

// one returns the action of a command with one argument.
func one(wants string, do cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		switch {
		case cmd.NArg() == 0:
			return terminal.Wrong(errors.New("falta el "+wants), cmd.Name)
		case cmd.NArg() > 1:
			return terminal.Wrong(errors.New("va un solo "+wants), cmd.Name)
		}
		return do(ctx, cmd)
	}
}
