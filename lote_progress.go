package fiscope

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/lockfile"
)

// Progress knows which inputs of a batch were answered, so that no other run pays for them again, whatever ended
// this one. It knows them by themselves, not by their positions: a RUC as its 11 digits, a receipt as its String.
// [ProgressFile] is one in a file; in a database it is a table with one column.
//
// An input that it has is passed: it is not asked, and no line comes for it, unless it repeats one that this run
// asked a while ago ([LotePolicy.Memory]). From stays what it is, a position of the inputs, those that are passed
// included; leave it 0, so that the failures of earlier runs are asked again.
//
// An input is recorded when the consumer takes the next line, or the end: handle a line's answer, and store it
// where it is safe, before you go on. Answers are recorded, ErrNotFound among them, and also those of a receipt
// that is "En Proceso" or "Error": ask again with [CPEService.Esperar], or with another Progress. Failures are
// not, nor are stale answers ([CachePolicy.StaleIfError]), those of a [Respaldo], nor what is no input at all.
//
// So nothing that is recorded is asked again. What was asked and is not recorded when a program is killed, or breaks
// out of its loop, is: the line at hand and what is under way, together at most as many inputs as the batch's
// Concurrency, for each run that was broken off so. An input that is recorded may have no line in any run for a
// duplicate of it: keep what you store by the input, not by its position. Under [WithLenientReading] an answer with
// a contradiction is recorded too.
//
// Both methods are called in the goroutine of the loop, between two lines. An error of theirs stops the batch,
// with a [*LoteDetenido] that unwraps to it.
type Progress interface {
	// Done reports whether an input was recorded.
	Done(ctx context.Context, input string) (bool, error)
	// Record takes note that an input was answered. Its context does not end with the batch's.
	Record(ctx context.Context, input string) error
}

// ProgressFile is a [Progress] in a file, for one process at a time. It holds the inputs, RUCs of persons among
// them, in clear, and no credential. Remove it to ask for everything anew, as each month: it does not say from when
// an answer is. It is safe for concurrent use.
//
// Each Record is one write, which outlives the program, however that ends. The file is forced to the disk by a
// Record once a second, and by Close: a power cut can take the records of the last second before it, or since
// the last Record, whose inputs are paid again. A line that was cut or damaged is ignored. In memory an input takes
// about 100 bytes.
type ProgressFile struct {
	mu     sync.Mutex
	file   *os.File
	end    int64 // of the last whole line
	done   map[string]struct{}
	synced time.Time // when it was forced to the disk last
}

// progressHeader is the first line of the file.
const progressHeader = "fiscope progress 1\n"

// NewProgressFile opens the file at path, which no other process may have open, or makes it, with the mode 0600,
// in a folder that exists. Close it.
//
// It refuses a file that holds something else, and what is no plain file, and leaves both as they were. Two processes are kept apart on Linux, macOS, the BSDs, illumos and
// Windows.
func NewProgressFile(path string) (*ProgressFile, error) {
	file, err := lockfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("fiscope: the progress file %s: %w", path, err)
	}
	f := &ProgressFile{file: file, done: map[string]struct{}{}}
	if err := f.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("fiscope: the progress file %s: %w", path, err), file.Close())
	}
	return f, nil
}

// read takes what the file holds, and makes it end with a whole line.
func (f *ProgressFile) read() error {
	if info, err := f.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return cmp.Or(err, errors.New("it is no plain file"))
	}
	r := bufio.NewReader(f.file)
	for {
		line, err := r.ReadString('\n')
		switch {
		case f.end == 0 && line != progressHeader && (err == nil || !strings.HasPrefix(progressHeader, line)):
			return errors.New("it holds something else")
		case errors.Is(err, io.EOF):
			return f.repair()
		case err != nil:
			return err
		}
		if input, ok := readProgressLine(line); ok {
			f.done[input] = struct{}{}
		}
		f.end += int64(len(line))
	}
}

// repair cuts a line off that is not whole, and begins a file that has none. It comes once the file is known to be
// one of these.
func (f *ProgressFile) repair() error {
	if err := f.file.Chmod(0o600); err != nil {
		return err
	}
	if err := f.file.Truncate(f.end); err != nil {
		return err
	}
	if f.end > 0 {
		return nil
	}
	if err := f.append(progressHeader); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(f.file.Name()))
}

// syncFolder makes sure that a power cut leaves the name of a new file. Not every system can.
func syncFolder(path string) error {
	folder, err := os.Open(path) //nolint:gosec // the caller's own
	if err != nil {
		return err
	}
	_ = folder.Sync()
	return folder.Close()
}

// progressLine is an input with its checksum, in one line whatever it holds.
func progressLine(input string) string {
	quoted := strconv.Quote(input)
	return fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE([]byte(quoted)), quoted)
}

// readProgressLine returns the input of a line, and whether it is one that is whole.
func readProgressLine(line string) (input string, ok bool) {
	_, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	input, err := strconv.Unquote(quoted)
	return input, err == nil && line == progressLine(input)
}

// append writes a line after the last one. What is written of one that fails is written over by the next.
func (f *ProgressFile) append(line string) error {
	n, err := f.file.WriteAt([]byte(line), f.end)
	if err == nil {
		f.end += int64(n)
	}
	return err
}

// Done reports whether an input was recorded, now or by an earlier process.
func (f *ProgressFile) Done(_ context.Context, input string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, done := f.done[input]
	return done, nil
}

// Record writes an input down. Its error is the file's, or that it was closed.
func (f *ProgressFile) Record(_ context.Context, input string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, done := f.done[input]; done {
		return nil
	}
	if err := f.append(progressLine(input)); err != nil {
		return err
	}
	f.done[input] = struct{}{}
	if time.Since(f.synced) < time.Second {
		return nil
	}
	f.synced = time.Now()
	return f.file.Sync()
}

// Close forces the file to the disk, closes it and lets another process have it.
func (f *ProgressFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.file.Sync(), f.file.Close())
}
