package fiscope

import (
	"context"
	"fmt"

	"github.com/fiscope/fiscope/internal/lockfile"
)

// Progress records which inputs of a batch were answered: the next run skips them, without a line. A RUC is its 11
// digits, a receipt its String. [ProgressFile] and [ResultsFile] implement it.
//
// An input is recorded when the consumer asks for the next line: store the answer before that. Failures, stale answers,
// those of a [Respaldo], and receipts that may still change are not recorded. Both methods are called in the goroutine
// of the loop. An error stops the batch.
type Progress interface {
	// Done reports whether an input was recorded.
	Done(ctx context.Context, input string) (bool, error)
	// Record notes that an input was answered. Its context does not end with the batch's.
	Record(ctx context.Context, input string) error
}

// ProgressFile is a [Progress] in a file, for one process at a time. It holds the inputs in plain text, RUCs of persons
// among them, and no credential. Remove it to ask for everything again. It is safe for concurrent use.
//
// Each Record is one write: it survives a crash of the program; a power cut can lose the last second or so. An
// incomplete line is ignored, and its input asked again.
type ProgressFile struct{ inputs *lockfile.Inputs }

// NewProgressFile opens the file at path, or creates it with mode 0600. It fails if another process has it open, if the
// folder does not exist, and if the file holds something else, which is left as it is. Close it at the end.
func NewProgressFile(path string) (*ProgressFile, error) {
	inputs, err := lockfile.OpenInputs(path)
	if err != nil {
		return nil, fmt.Errorf("fiscope: the Progress %s: %w", path, err)
	}
	return &ProgressFile{inputs}, nil
}

// Done reports whether an input was recorded, now or by an earlier process.
func (f *ProgressFile) Done(_ context.Context, input string) (bool, error) {
	return f.inputs.Done(input), nil
}

// Record appends an input. It fails if the file cannot be written or was closed.
func (f *ProgressFile) Record(_ context.Context, input string) error {
	return f.inputs.Record(input, nil, nil, true)
}

// Close syncs the file to the disk and closes it, so that another process may open it.
func (f *ProgressFile) Close() error { return f.inputs.Close() }

// ResultsFile is a [ProgressFile] that keeps the answers too. A batch writes a line of JSON for each input that it
// delivers: its "input" and either its "answer", in the contract's form, or its "error". "pending" is true if the next
// run asks again. If an input has several lines, the last one counts.
type ResultsFile struct{ ProgressFile }

// NewResultsFile is [NewProgressFile] for a ResultsFile.
func NewResultsFile(path string) (*ResultsFile, error) {
	f, err := NewProgressFile(path)
	if err != nil {
		return nil, err
	}
	return &ResultsFile{*f}, nil
}

func (f *ResultsFile) keep(input string, answer any, err error, final bool) error {
	return f.inputs.Record(input, answer, err, final)
}

// resultKeeper is a Progress that also keeps the answers of a batch.
type resultKeeper interface {
	keep(input string, answer any, err error, final bool) error
}
