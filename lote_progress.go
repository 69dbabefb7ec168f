package fiscope

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/jsonlines"
	"github.com/fiscope/fiscope/internal/lockfile"
)

// Progress records which inputs of a batch were answered. The next run skips them and yields no line for them. The input
// of a RUC is its 11 digits, that of a receipt its String. [ProgressFile] and [ResultsFile] implement it.
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
type ProgressFile struct{ inputs *jsonlines.File }

// NewProgressFile opens the file at path, or creates it with mode 0600. It fails if another process has it open, if the
// folder does not exist, and if the file holds something else, which is left as it is. Close it at the end.
func NewProgressFile(path string) (*ProgressFile, error) {
	var inputs *jsonlines.File
	file, err := lockfile.Open(path)
	if err == nil {
		inputs, err = jsonlines.Of(file)
	}
	if err != nil {
		return nil, fmt.Errorf("fiscope: the Progress %s: %w", path, err)
	}
	return &ProgressFile{inputs}, nil
}

// Done reports whether an input was recorded, now or by an earlier process.
func (f *ProgressFile) Done(_ context.Context, input string) (bool, error) {
	_, done := f.inputs.Done(input)
	return done, nil
}

// Record appends an input. It fails if the file cannot be written or was closed.
func (f *ProgressFile) Record(_ context.Context, input string) error {
	return f.inputs.Record(jsonlines.Line{Input: input})
}

// Close syncs the file to the disk and closes it, so that another process may open it.
func (f *ProgressFile) Close() error { return f.inputs.Close() }

// ResultsFile is a [ProgressFile] that keeps the answers too: see [ReadResults]. A batch writes one line of JSON for each
// input that it delivers, with the members of [SavedResult]: "input", "answer" or "error", "pending", "source" and "asOf".
// Nothing is deleted: the last line of an input counts.
type ResultsFile struct {
	ProgressFile
	maxAge *int                     // in days; nil for any
	clock  atomic.Pointer[calendar] // the last batch's
}

// ResultsOption configures a [ResultsFile].
type ResultsOption func(*ResultsFile)

// ResultsMaxAge limits the age of a recorded answer, in days: the next run asks again for older ones. 0 keeps only
// today's. A day begins at midnight in Lima, by the clock of the batch's client. Lines without a time are too old.
func ResultsMaxAge(days int) ResultsOption { return func(f *ResultsFile) { f.maxAge = &days } }

// NewResultsFile is [NewProgressFile] for a ResultsFile.
func NewResultsFile(path string, opts ...ResultsOption) (*ResultsFile, error) {
	f := &ResultsFile{}
	for _, set := range opts {
		set(f)
	}
	if f.maxAge != nil && *f.maxAge < 0 {
		return nil, fmt.Errorf("fiscope: ResultsMaxAge wants 0 days or more: they are %d", *f.maxAge)
	}
	progress, err := NewProgressFile(path)
	if err != nil {
		return nil, err
	}
	f.ProgressFile = *progress
	f.use(nil)
	return f, nil
}

// Done reports whether an input was recorded, now or by an earlier process, and is not too old.
func (f *ResultsFile) Done(_ context.Context, input string) (bool, error) {
	asOf, done := f.inputs.Done(input)
	if !done || f.maxAge == nil {
		return done, nil
	}
	const day = 24 * time.Hour
	age := FechaEnLima(f.clock.Load().now()).utc().Sub(FechaEnLima(asOf).utc())
	return !asOf.IsZero() && age >= 0 && int(age/day) <= *f.maxAge, nil // a time in the future is from a wrong clock
}

// Record appends an input without an answer, with the time. It fails if the file cannot be written or was closed.
func (f *ResultsFile) Record(_ context.Context, input string) error {
	return f.inputs.Record(jsonlines.Line{Input: input, AsOf: f.clock.Load().now().UTC()})
}

// resultKeeper is a Progress that also keeps the answers of a batch.
type resultKeeper interface {
	use(calendar)
	keep(input string, result any, r Response, err error, final bool) error
}

func (f *ResultsFile) use(c calendar) { f.clock.Store(&c) }

func (f *ResultsFile) keep(input string, result any, r Response, failure error, final bool) (err error) {
	l := jsonlines.Line{Input: input, Pending: !final, Source: string(r.Source), AsOf: r.AsOf.UTC()}
	if failure != nil {
		l.Error = failure.Error()
	} else if l.Answer, err = json.Marshal(result); err != nil {
		return err
	}
	return f.inputs.Record(l)
}

// SavedResult is the last line of an input in a [ResultsFile].
type SavedResult struct {
	Input   string          // a RUC, or the String of a receipt
	Answer  json.RawMessage // in the contract's form; empty if there is an error
	Error   string          // the text of the error
	Pending bool            // the next run asks again
	Source  Source          // where it came from; "" if nobody answered
	AsOf    time.Time       // when the service gave it, see [Response]; zero for a failure, and in older files
}

// ReadResults yields the last line of each input of a [ResultsFile], in the order of the file. Damaged lines are left
// out. If the file cannot be read, or holds something else, it yields an error alone.
func ReadResults(path string) iter.Seq2[SavedResult, error] {
	return func(yield func(SavedResult, error) bool) {
		lines, err := jsonlines.Read(path)
		if err != nil {
			yield(SavedResult{}, fmt.Errorf("fiscope: the ResultsFile %s: %w", path, err))
			return
		}
		for _, l := range lines {
			if !yield(SavedResult{l.Input, l.Answer, l.Error, l.Pending, Source(l.Source), l.AsOf}, nil) {
				return
			}
		}
	}
}
