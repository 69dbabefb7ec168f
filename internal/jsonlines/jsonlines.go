// Package jsonlines keeps what came of the inputs of a batch in a file of JSON lines.
package jsonlines

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

// Line is what a file says of one input.
type Line struct {
	Input   string          `json:"input"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Error   string          `json:"error,omitempty"`
	Pending bool            `json:"pending,omitempty"` // the next run asks again
	Source  string          `json:"source,omitempty"`
	AsOf    time.Time       `json:"asOf,omitzero"`
}

// File is a file of which the last line of an input counts. It is safe for concurrent use.
type File struct {
	mu     sync.Mutex
	file   *os.File
	end    int64           // of the last complete line
	last   map[string]Line // of each input, without its answer
	synced time.Time       // when it was last synced to the disk
}

const begins = `{"input":`

// Of reads which inputs are done in a file that was opened to read and write. If it refuses the file, it closes it and
// leaves it as it is.
func Of(file *os.File) (*File, error) {
	f := &File{file: file, last: map[string]Line{}}
	end, err := scan(file, func(l Line) { f.last[l.Input] = Line{AsOf: l.AsOf, Pending: l.Pending} })
	if err == nil {
		err = file.Truncate(end) // drop an incomplete last line
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.end = end
	return f, nil
}

// Read returns the last line of each input, in the order of the file. Another process may be writing to it.
func Read(path string) ([]Line, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's own
	if err != nil {
		return nil, err
	}
	var lines, kept []Line
	last := map[string]int{}
	_, err = scan(file, func(l Line) { last[l.Input], lines = len(lines), append(lines, l) })
	for i, l := range lines {
		if last[l.Input] == i {
			kept = append(kept, l)
		}
	}
	return kept, errors.Join(err, file.Close())
}

// scan reads the complete lines, and returns where they end. It skips a damaged one: its input is asked again.
func scan(file io.Reader, take func(Line)) (end int64, err error) {
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
func (f *File) Record(l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before, seen := f.last[l.Input]
	if seen && (l.Pending && l.AsOf.Before(before.AsOf) || !before.Pending && l.AsOf.Equal(before.AsOf)) {
		return nil
	}
	n, err := f.file.WriteAt(append(text, '\n'), f.end)
	if err != nil {
		return err // the next line overwrites what was written of this one
	}
	f.end += int64(n)
	f.last[l.Input] = Line{AsOf: l.AsOf, Pending: l.Pending}
	if time.Since(f.synced) < time.Second {
		return nil
	}
	f.synced = time.Now()
	return f.file.Sync()
}

// Done reports whether an input is done, by this process or an earlier one, and the time of its answer.
func (f *File) Done(input string) (asOf time.Time, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, seen := f.last[input]
	return before.AsOf, seen && !before.Pending
}

// Close syncs the file to the disk, and closes it.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.file.Sync(), f.file.Close())
}
