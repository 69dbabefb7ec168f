package padron

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ImportOptions are what an import may be told. The zero value is ready.
type ImportOptions struct {
	MaxOdd   float64        // the share of odd rows, of all, above which an import fails; 0 for 0.01
	Progress func(Progress) // told how far it is, many times a second while it reads; may be nil
}

// defaultMaxOdd is far above what the registry has, and far below what another file in its form has.
const defaultMaxOdd = 0.01

// Progress is how far an import is.
type Progress struct {
	Phase string // one of PhaseRead, ...
	Rows  int64  // read
	Bytes int64  // of the text, read
	Size  int64  // of the text
}

// The phases of an import, in their order: the first one reads the rows, and takes a third of the time.
const (
	PhaseRead  = "reading"
	PhaseOrder = "ordering names"
	PhaseWords = "sorting words"
	PhaseInner = "sorting places inside words"
)

// ErrOddRows is why [Import] refuses a file of which it has read all rows: the [Report] says what they have.
var ErrOddRows = errors.New("rows are odd")

// Import makes an index of a registry's file, which is the zip in which it is published or its text. The index is
// another file, which is there when it is whole: until then, and after an error, what was there is untouched. While
// it grows it is beside its place under the name of the index with ".import" behind it, and on some systems
// another one with ".import-rows"; both are gone when Import returns, and those of a process that was killed go with
// the next import. Of two imports of one index at a time, the second fails.
//
// The report says what was seen, also with an error. At 18 million rows it takes 1.2 GB of memory, and 4 GB of the
// index's disk.
func Import(ctx context.Context, file, index string, o ImportOptions) (Report, error) {
	var report Report
	in, err := openSource(ctx, file)
	if err != nil {
		return report, fmt.Errorf("padron: %w", err)
	}
	defer func() { _ = in.Close() }()
	report.SHA256, report.Fecha = in.sha256, in.fecha
	if err := isAnotherFile(in.file, index); err != nil {
		return report, err
	}
	d, err := newDraft(index)
	if err != nil {
		return report, fmt.Errorf("padron: %s: %w", index, err)
	}
	if err := build(ctx, in, d, &report, o); err != nil {
		d.discard()
		return report, err
	}
	if err := d.keep(); err != nil {
		return report, fmt.Errorf("padron: %w", err)
	}
	return report, nil
}

// build makes the index of a source in a draft.
func build(ctx context.Context, in *source, d *draft, report *Report, o ImportOptions) error {
	at := Progress{Size: in.size}
	tell := func(phase string) {
		at.Phase, at.Rows = phase, int64(report.Rows)
		if o.Progress != nil {
			o.Progress(at)
		}
	}
	b := newBuilder(d.File, d.rows)
	tell(PhaseRead)
	err := in.rows(ctx, report, func(bytes int) {
		at.Bytes += int64(bytes)
		tell(PhaseRead)
	}, b.add)
	if err != nil {
		return fmt.Errorf("padron: %w", err)
	}
	tell(PhaseOrder)
	for _, line := range b.replaceRows() {
		report.odd(&report.Duplicates, line, "a later row has the same RUC")
	}
	report.Taken = b.taken()
	most := o.MaxOdd
	if most <= 0 {
		most = defaultMaxOdd
	}
	if odd := report.Odd(); float64(odd) > most*float64(report.Rows) {
		return fmt.Errorf("padron: %s: %d of %d %w, %.2f %%, and at most %.2f %% may be: see what they have, or allow more",
			in.file.Name(), odd, report.Rows, ErrOddRows, 100*float64(odd)/float64(report.Rows), 100*most)
	}
	if err := b.finish(ctx, Info{SHA256: report.SHA256, Fecha: report.Fecha}, tell); err != nil {
		return fmt.Errorf("padron: making the index: %w", err)
	}
	return nil
}

// isAnotherFile refuses to write the index in the place of what it is made of.
func isAnotherFile(file *os.File, index string) error {
	a, err := file.Stat()
	if err != nil {
		return fmt.Errorf("padron: %w", err)
	}
	if b, err := os.Stat(index); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("padron: %s: it is the registry's file: name another one for the index", index)
	}
	return nil
}
