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

// padronCommands make and describe the index for -padron.
func padronCommands() *cli.Command {
	const bar = "\nEn una terminal muestra una barra, y si no, una línea cada 5 segundos en stderr.\nCtrl-C lo detiene sin dejar archivos a medias."
	return &cli.Command{
		Name: "padron", Usage: "genera el índice del padrón de la SUNAT que usa -padron", UsageText: "fiscope-mock padron import|info|generate", Action: terminal.OneOf,
		Commands: []*cli.Command{
			{Name: "import", Usage: "genera un índice del padrón", UsageText: "fiscope-mock padron import [OPCIONES] ARCHIVO",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "o", DefaultText: "ÍNDICE", Usage: "el índice; si no, ARCHIVO con .idx en lugar de .zip o .txt", Local: true},
					&cli.FloatFlag{Name: "max-odd", DefaultText: "PARTE", Usage: "qué parte de las filas puede tener errores, de 0 a 1; 0.01 por defecto", Value: 0.01, Local: true},
					&cli.BoolFlag{Name: "allow-smaller", Usage: "admite menos del 90 % de los contribuyentes del índice que había", Local: true},
				},
				Action: padronCommand("ARCHIVO", padronImport),
				Description: "ARCHIVO es el padron_reducido_ruc.zip de la SUNAT, o su texto. El índice que\n" +
					"había queda hasta que el nuevo está completo, y el servidor que lo tiene abierto\n" +
					"pasa al nuevo sin reiniciarse. Falla si tiene menos del 90 % de los\n" +
					"contribuyentes del anterior, o si hay más filas con errores que las admitidas:\n" +
					"con otro número de campos, un RUC que no es de 11 dígitos, sin nombre, o con el\n" +
					"RUC de una fila posterior. El padrón completo tarda cerca de un minuto y usa\n" +
					"1.5 GB de memoria y 4 GB de disco; el índice ocupa 2.5 GB." + bar},
			{Name: "info", Usage: "dice de qué se hizo un índice, y si está entero", UsageText: "fiscope-mock padron info ÍNDICE",
				Action: padronCommand("ÍNDICE", padronInfo)},
			{Name: "generate", Usage: "escribe un padrón inventado", UsageText: "fiscope-mock padron generate [OPCIONES] ARCHIVO",
				Flags: []cli.Flag{
					&cli.IntFlag{Name: "rows", DefaultText: "N", Usage: "cuántas filas; 200000 por defecto, y el real tiene 18.3 millones", Value: 200_000, Local: true},
				},
				Action:      padronCommand("ARCHIVO", padronGenerate),
				Description: "Tiene el formato del real, con datos inventados. Es un zip si ARCHIVO termina en\n.zip, y si no un texto. Reemplaza lo que había. Ctrl-C lo detiene sin dejar\narchivos a medias."},
		},
	}
}

// padronCommand runs do with the only file of the command line, and explains its error.
func padronCommand(wants string, do func(ctx context.Context, cmd *cli.Command, file string) error) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		file, of := cmd.Args().First(), "padron "+cmd.Name
		switch {
		case file == "":
			return terminal.Wrong(fmt.Errorf("falta el %s", wants), of)
		case cmd.NArg() > 1:
			return terminal.Wrong(fmt.Errorf("va un solo %s", wants), of)
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
	defer func() { _ = index.Close() }() // only read
	if err := index.Verify(ctx); err != nil {
		return err
	}
	info := index.Info()
	table := tabwriter.NewWriter(cmd.Root().Writer, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "contribuyentes\t%d\nfecha\t%s\nSHA-256\t%s\níndice\tentero, como import lo escribió\n",
		info.Contribuyentes, day(info.Fecha), info.SHA256)
	return table.Flush()
}

// day formats the date of the data.
func day(f fiscope.Fecha) string {
	if f.IsZero() {
		return "no se sabe"
	}
	return f.String()
}
