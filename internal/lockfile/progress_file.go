package lockfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Line is what a file of inputs says of one input.
type Line struct {
	Input   string          `json:"input"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Error   string          `json:"error,omitempty"`
	Pending bool            `json:"pending,omitempty"` // the next run asks again
	Source  string          `json:"source,omitempty"`
	AsOf    time.Time       `json:"asOf,omitzero"`
}

// Inputs is a file of JSON lines, of which the last one of an input counts. It is safe for concurrent use.
type Inputs struct {
	mu     sync.Mutex
	file   *os.File
	end    int64           // of the last complete line
	last   map[string]last // line of each input
	synced time.Time       // when it was last synced to the disk
}

type last struct {
	asOf    time.Time
	pending bool
}

const begins = `{"input":`

// OpenInputs opens or creates the file at path, and reads which inputs are done. It refuses any other file, and leaves
// it as it is.
func OpenInputs(path string) (*Inputs, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	f := &Inputs{file: file, last: map[string]last{}}
	if f.end, err = read(file, func(l Line) { f.last[l.Input] = last{l.AsOf, l.Pending} }); err == nil {
		err = file.Truncate(f.end) // drop an incomplete last line
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// ReadInputs returns the last line of each input, in the order of the file. Another process may be writing to it.
func ReadInputs(path string) ([]Line, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's own
	if err != nil {
		return nil, err
	}
	var lines, kept []Line
	last := map[string]int{}
	_, err = read(file, func(l Line) { last[l.Input], lines = len(lines), append(lines, l) })
	for i, l := range lines {
		if last[l.Input] == i {
			kept = append(kept, l)
		}
	}
	return kept, errors.Join(err, file.Close())
}

// read reads the complete lines, and returns where they end. It skips a damaged one: its input is asked again.
func read(file io.Reader, take func(Line)) (end int64, err error) {
	r := bufio.NewReader(file)
	if first, _ := r.Peek(len(begins)); !strings.HasPrefix(begins, string(first)) {
		return 0, errors.New("it holds something else")
	}
	for {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		if l := (Line{}); json.Unmarshal(text, &l) == nil {
			take(l)
		}
		end += int64(len(text))
	}
}

// Record appends a line, and syncs the file to the disk at most once a second. It leaves out a pending line that is
// older than the input's last, such as a failure, and one that repeats it.
func (f *Inputs) Record(l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before, seen := f.last[l.Input]
	if seen && (l.Pending && l.AsOf.Before(before.asOf) || !before.pending && l.AsOf.Equal(before.asOf)) {
		return nil
	}
	n, err := f.file.WriteAt(append(text, '\n'), f.end)
	if err != nil {
		return err // the next line overwrites what was written of this one
	}
	f.end += int64(n)
	f.last[l.Input] = last{l.AsOf, l.Pending}
	if time.Since(f.synced) < time.Second {
		return nil
	}
	f.synced = time.Now()
	return f.file.Sync()
}

// Done reports whether an input is done, by this process or an earlier one, and the time of its answer.
func (f *Inputs) Done(input string) (asOf time.Time, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, seen := f.last[input]
	return before.asOf, seen && !before.pending
}

// Close syncs the file to the disk, closes it and lets another process open it.
func (f *Inputs) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.file.Sync(), f.file.Close())
}
