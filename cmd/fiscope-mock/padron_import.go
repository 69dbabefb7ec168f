package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/fiscope/fiscope/padron"
)

// padronImport makes an index of the registry's file.
func padronImport(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := padronFlags()
	index := fs.String("o", "", "")
	maxOdd := fs.Float64("max-odd", 0.01, "")
	file, err := parseFile(fs, "import", "FILE", args)
	if err == nil && !(0 <= *maxOdd && *maxOdd <= 1) { // NaN neither
		err = fmt.Errorf("import: -max-odd %v: want a share of the rows, 0 to 1", *maxOdd)
	}
	if err != nil {
		return padronUsageError(err, stdout, stderr)
	}
	if *index == "" {
		*index = indexOf(file)
	}
	p := showProgress(stderr)
	report, err := padron.Import(ctx, file, *index, padron.ImportOptions{
		MaxOdd:   max(*maxOdd, math.SmallestNonzeroFloat64), // its 0 is another share
		Progress: func(at padron.Progress) { p.tell(importStep(at)) },
	})
	p.stop()
	if err != nil {
		if errors.Is(err, padron.ErrOddRows) {
			writeReport(stderr, &report)
			err = fmt.Errorf("%w with -max-odd", err)
		}
		return padronFailed(ctx, err, stderr)
	}
	writeReport(stdout, &report)
	_, _ = fmt.Fprintf(stdout, "\n%s is made: serve it with fiscope-mock -padron %s\n", *index, shellWord(*index))
	return 0
}

// indexOf is the index of a registry's file, unless -o names one.
func indexOf(file string) string {
	if ext := filepath.Ext(file); strings.EqualFold(ext, ".zip") || strings.EqualFold(ext, ".txt") {
		file = strings.TrimSuffix(file, ext)
	}
	return file + ".idx"
}

// importParts are the phases of an import as parts of the whole, as the whole registry has them. Those before the rows are
// read take as long as the disk does, and are each a whole.
var importParts = map[string]struct{ from, to float64 }{
	padron.PhaseHash:     {0, 1},
	padron.PhaseEncoding: {0, 1},
	padron.PhaseRead:     {0, .3},
	padron.PhaseOrder:    {.3, .38},
	padron.PhaseWords:    {.38, .78},
	padron.PhaseInner:    {.78, 1},
}

// importStep says what an import tells of its phase. Only those that read know how far they are.
func importStep(at padron.Progress) step {
	part := importParts[at.Phase]
	s := step{what: at.Phase, from: part.from, to: part.to, done: -1, rows: at.Rows}
	if at.Size > 0 {
		s.done, s.bytes = float64(at.Bytes)/float64(at.Size), at.Bytes
	}
	return s
}

// writeReport prints what an import found.
func writeReport(w io.Writer, r *padron.Report) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range []struct {
		what  string
		count int
	}{
		{"rows", r.Rows},
		{"taxpayers taken", r.Taken},
		{"too few fields, not taken", r.TooFewFields},
		{"too long, not taken", r.TooLong},
		{"RUC not 11 digits, not taken", r.BadRUC},
		{"without a name, found by RUC only", r.WithoutName},
		{"replaced by a later row of the same RUC", r.Duplicates},
	} {
		_, _ = fmt.Fprintf(table, "%d\t %s\n", line.count, line.what)
	}
	_ = table.Flush() // stdout is gone: nobody to tell
	if len(r.First) > 0 {
		_, _ = fmt.Fprintln(w, "\nThe first odd rows of each kind:")
		for _, odd := range r.First {
			_, _ = fmt.Fprintf(w, "  line %d: %s\n", odd.Line, odd.Why)
		}
	}
	_, _ = fmt.Fprintf(w, "\ndate     %s\nSHA-256  %s\n", day(r.Fecha), r.SHA256)
}
