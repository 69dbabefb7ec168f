package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/padron"
)

// padronCommands make and show the index that -padron serves.
func padronCommands() *cli.Command {
	const bar = "\nEn una terminal muestra una barra, y si no, una línea cada 5 segundos en stderr.\nUna señal lo detiene, y no deja nada."
	return &cli.Command{
		Name: "padron", Usage: "hace el índice del padrón de la SUNAT, que -padron sirve", UsageText: "fiscope-mock padron import|info|generate", Action: terminal.OneOf,
		Commands: []*cli.Command{
			{Name: "import", Usage: "hace un índice del padrón", UsageText: "fiscope-mock padron import [OPCIONES] ARCHIVO",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "o", DefaultText: "ÍNDICE", Usage: "el índice; si no, ARCHIVO con .idx en lugar de .zip o .txt", Local: true},
					&cli.FloatFlag{Name: "max-odd", DefaultText: "PARTE", Usage: "qué parte de las filas puede estar mal, de 0 a 1; 0.01 si no se da", Value: 0.01, Local: true},
					&cli.BoolFlag{Name: "allow-smaller", Usage: "admite menos del 90 % de los contribuyentes del índice que había", Local: true},
				},
				Action: padronCommand("un ARCHIVO", padronImport),
				Description: "ARCHIVO es el padron_reducido_ruc.zip de la SUNAT, o su texto. El índice que\n" +
					"había queda hasta que el nuevo está completo, y el servidor que lo tiene abierto\n" +
					"pasa solo al nuevo. Falla si tiene menos del 90 % de los contribuyentes del\n" +
					"anterior, o si hay más filas mal de las que puede haber: con otro número de\n" +
					"campos, un RUC que no es de 11 dígitos, sin nombre, o con el RUC de una fila\n" +
					"posterior. El padrón completo toma un minuto, 1.5 GB de memoria y 4 GB de disco,\n" +
					"de los que quedan 2.5." + bar},
			{Name: "info", Usage: "dice de qué se hizo un índice, y si está entero", UsageText: "fiscope-mock padron info ÍNDICE",
				Action: padronCommand("un ÍNDICE", padronInfo)},
			{Name: "generate", Usage: "escribe un padrón inventado", UsageText: "fiscope-mock padron generate [OPCIONES] ARCHIVO",
				Flags: []cli.Flag{
					&cli.IntFlag{Name: "rows", DefaultText: "N", Usage: "cuántas filas; 200000 si no se da, y el de verdad tiene 18.3 millones", Value: 200_000, Local: true},
				},
				Action:      padronCommand("un ARCHIVO", padronGenerate),
				Description: "Tiene la forma del de verdad, y a nadie. Es un zip si ARCHIVO termina en .zip, y\nsi no un texto. Reemplaza lo que había. Una señal lo detiene, y no deja nada."},
		},
	}
}

// padronCommand runs do with the one file of the command line, and says why it has failed.
func padronCommand(wants string, do func(ctx context.Context, cmd *cli.Command, file string) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		file := cmd.Args().First()
		if cmd.NArg() != 1 || file == "" {
			return terminal.Wrong(fmt.Errorf("padron %s quiere %s", cmd.Name, wants), "padron "+cmd.Name)
		}
		err := do(ctx, cmd, file)
		signal, wrong := stopped{}, terminal.WrongUsage{}
		switch stderr := cmd.Root().ErrWriter; {
		case err == nil, errors.As(err, &wrong):
			return err
		case errors.As(context.Cause(ctx), &signal):
			exit := status(1)
			if number, ok := signal.by.(syscall.Signal); ok {
				exit = -status(number)
			}
			return failed(stderr, exit, fmt.Errorf("%w: no cambió nada", signal))
		default:
			return failed(stderr, 1, errors.New(registryInSpanish(terminal.InSpanish(err))))
		}
	}
}

func padronInfo(ctx context.Context, cmd *cli.Command, name string) error {
	index, err := padron.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = index.Close() }() // which was only read
	if err := index.Verify(ctx); err != nil {
		return err
	}
	info := index.Info()
	table := tabwriter.NewWriter(cmd.Root().Writer, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "contribuyentes\t%d\nfecha\t%s\nSHA-256\t%s\níndice\tentero, como import lo escribió\n",
		info.Contribuyentes, day(info.Fecha), info.SHA256)
	return table.Flush()
}

// day shows the date of the data.
func day(f fiscope.Fecha) string {
	if f.IsZero() {
		return "no se sabe"
	}
	return f.String()
}
