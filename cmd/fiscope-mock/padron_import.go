package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/padron"
)

// padronImport makes an index from the registry's file.
func padronImport(ctx context.Context, cmd *cli.Command, file string) error {
	stdout, stderr := cmd.Root().Writer, cmd.Root().ErrWriter
	index, maxOdd := cmp.Or(cmd.String("o"), indexOf(file)), cmd.Float("max-odd")
	if !(0 <= maxOdd && maxOdd <= 1) { // also refuses NaN
		return terminal.Wrong(errors.New("-max-odd: se espera una parte de las filas, de 0 a 1"), "padron import")
	}
	p := terminal.ShowProgress("fiscope-mock", stderr)
	result, err := padron.Import(ctx, file, index, padron.ImportOptions{
		MaxOdd:       max(maxOdd, math.SmallestNonzeroFloat64), // 0 would mean the default
		AllowSmaller: cmd.Bool("allow-smaller"),
		Progress:     func(at padron.Progress) { p.Report(importStep(at)) },
	})
	p.Stop()
	if errors.Is(err, padron.ErrOddRows) {
		writeReport(stderr, &result)
		return fmt.Errorf("%s: %d de %d filas están mal, y puede estarlo el %.2f %%: vea qué tienen, o admita más con -max-odd",
			file, result.Odd(), result.Rows, 100*maxOdd)
	}
	if err != nil {
		return err
	}
	writeReport(stdout, &result)
	_, _ = fmt.Fprintf(stdout, "\n%s está hecho: sírvalo con fiscope-mock -padron %s\n", index, shellWord(index))
	return nil
}

// indexOf returns the default name of a registry file's index; -o sets another one.
func indexOf(file string) string {
	if ext := filepath.Ext(file); strings.EqualFold(ext, ".zip") || strings.EqualFold(ext, ".txt") {
		file = strings.TrimSuffix(file, ext)
	}
	return file + ".idx"
}

// importStep returns the progress of an import. Only the phases that read can tell their share.
func importStep(at padron.Progress) terminal.Step {
	s := terminal.Step{What: registryInSpanish(at.Phase), Rows: at.Rows, Done: -1}
	if at.Size > 0 {
		s.Done = float64(at.Bytes) / float64(at.Size)
	}
	return s
}

// writeReport prints an import's result.
func writeReport(w io.Writer, r *padron.Report) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range []struct {
		what  string
		count int
	}{
		{"filas", r.Rows},
		{"contribuyentes", r.Taken},
		{"con otro número de campos, que quedan fuera", r.TooFewFields},
		{"demasiado largas, que quedan fuera", r.TooLong},
		{"con un RUC que no es de 11 dígitos, que quedan fuera", r.BadRUC},
		{"sin nombre, que se encuentran solo por RUC", r.WithoutName},
		{"reemplazadas por otra posterior del mismo RUC", r.Duplicates},
	} {
		_, _ = fmt.Fprintf(table, "%d\t %s\n", line.count, line.what)
	}
	_ = table.Flush() // stdout may be closed
	if len(r.First) > 0 {
		_, _ = fmt.Fprintln(w, "\nLas primeras filas que están mal, de cada clase:")
		for _, odd := range r.First {
			_, _ = fmt.Fprintf(w, "  línea %d: %s\n", odd.Line, registryInSpanish(odd.Why))
		}
	}
	_, _ = fmt.Fprintf(w, "\nfecha    %s\nSHA-256  %s\n", day(r.Fecha), r.SHA256)
}
