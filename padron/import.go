package padron

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ImportOptions are the options of an import. The zero value is ready.
type ImportOptions struct {
	MaxOdd       float64        // an import fails above this share of odd rows; 0 means 0.01
	AllowSmaller bool           // accept a file with less than 90 % of the taxpayers of the index that it replaces
	Progress     func(Progress) // called many times a second while reading; may be nil
}

// defaultMaxOdd is far above the share in the registry, and far below that of any other file in its form.
const defaultMaxOdd = 0.01

// ErrOddRows is the error of [Import] for a file with too many odd rows, after reading all: the [Report] says what is
// wrong.
var ErrOddRows = errors.New("rows are odd")

// Import makes an index of a registry's file, which is the published zip or its text. The index replaces an existing
// file only once it is complete; after an error that file is untouched. Meanwhile it grows in a file with ".import"
// after the name of the index and, on some systems, another one with ".import-rows". Import removes both, and those of
// a killed import. While one import of an index runs, a second one fails.
//
// The report is valid even with an error. At 18 million rows Import takes 1.2 GB of memory, and 4 GB of the index's
// disk.
func Import(ctx context.Context, file, index string, o ImportOptions) (Report, error) {
	var report Report
	if target, err := filepath.EvalSymlinks(index); err == nil { // a rename would replace the link
		index = target
	} else if _, notLink := os.Readlink(index); notLink == nil && errors.Is(err, fs.ErrNotExist) {
		return report, fmt.Errorf("padron: %s: it is a link to nothing: remove it, or make what it leads to", index)
	}
	if err := isAnotherFile(file, index); err != nil {
		return report, err
	}
	d, err := newDraft(index) // first: it removes what a killed import left, even if the file is refused
	if err != nil {
		return report, fmt.Errorf("padron: %s: %w", index, err)
	}
	if err := build(ctx, file, d, &report, o); err != nil {
		d.discard()
		return report, err
	}
	if err := d.keep(); err != nil {
		return report, fmt.Errorf("padron: %w", err)
	}
	return report, nil
}

// build makes the index of a registry's file in a draft.
func build(ctx context.Context, file string, d *draft, report *Report, o ImportOptions) error {
	begin := func(phase string, size int64) (read func(bytes int)) {
		at := Progress{Phase: phase, Size: size}
		read = func(bytes int) {
			at.Bytes += int64(bytes)
			at.Rows = int64(report.Rows)
			if o.Progress != nil {
				o.Progress(at)
			}
		}
		read(0)
		return read
	}
	in, err := openSource(ctx, file, begin)
	if err != nil {
		return fmt.Errorf("padron: %w", err)
	}
	defer func() { _ = in.Close() }()
	report.SHA256, report.Fecha = in.sha256, in.fecha
	b := newBuilder(d.File, d.rows)
	if err := in.rows(ctx, report, begin, b.add); err != nil {
		return fmt.Errorf("padron: %w", err)
	}
	begin(PhaseOrder, 0)
	replaced, nameless := b.replaceRows()
	for _, line := range replaced {
		report.odd(&report.Duplicates, line, "a later row has the same RUC")
	}
	report.WithoutName -= nameless
	report.Taken = b.taken()
	most := o.MaxOdd
	if most <= 0 {
		most = defaultMaxOdd
	}
	if odd := report.Odd(); float64(odd)/float64(report.Rows) > most { // there are rows
		return fmt.Errorf("padron: %s: %d of %d %w, %.2f %%, and at most %.2f %% may be: see what they have, or allow more",
			in.file.Name(), odd, report.Rows, ErrOddRows, 100*float64(odd)/float64(report.Rows), 100*most)
	}
	if before := taxpayersOf(d.index); !o.AllowSmaller && 10*report.Taken < 9*before {
		return fmt.Errorf("padron: %s: %d taxpayers, and the index that it would replace has %d: download it again, or allow it by AllowSmaller",
			in.file.Name(), report.Taken, before)
	}
	if err := b.finish(ctx, Info{SHA256: report.SHA256, Fecha: report.Fecha}, func(phase string) { begin(phase, 0) }); err != nil {
		return fmt.Errorf("padron: making the index: %w", err)
	}
	return nil
}

// taxpayersOf returns how many taxpayers an index has; 0 if it cannot be opened.
func taxpayersOf(index string) int {
	x, err := Open(index)
	if err != nil {
		return 0
	}
	_ = x.Close() // it was only read
	return x.info.Contribuyentes
}

// isAnotherFile refuses to write the index, or a draft of it, over the registry's file.
func isAnotherFile(file, index string) error {
	of, err := os.Stat(file)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to overwrite: opening it will fail
	}
	for _, written := range []string{index, index + draftSuffix, index + draftRowsSuffix} {
		if there, err := os.Stat(written); err == nil && os.SameFile(of, there) {
			return fmt.Errorf("padron: %s: it is the registry's file: name another one for the index", written)
		}
	}
	return nil
}
