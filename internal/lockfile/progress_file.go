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

// Inputs is a file of JSON lines, one for each input with its answer or error. It is safe for concurrent use.
type Inputs struct {
	mu     sync.Mutex
	file   *os.File
	end    int64 // of the last complete line
	done   map[string]struct{}
	synced time.Time // when it was last synced to the disk
}

type line struct {
	Input   string `json:"input"`
	Answer  any    `json:"answer,omitempty"`
	Error   string `json:"error,omitempty"`
	Pending bool   `json:"pending,omitempty"`
}

const begins = `{"input":`

// OpenInputs opens or creates the file at path, and reads which inputs are done. It refuses any other file, and leaves
// it as it is.
func OpenInputs(path string) (*Inputs, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	f := &Inputs{file: file, done: map[string]struct{}{}}
	if err := f.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// read reads the file, and drops an incomplete last line.
func (f *Inputs) read() error {
	r := bufio.NewReader(f.file)
	if first, _ := r.Peek(len(begins)); !strings.HasPrefix(begins, string(first)) {
		return errors.New("it holds something else")
	}
	for {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return f.file.Truncate(f.end)
		}
		if err != nil {
			return err
		}
		var l struct {
			Input   string
			Pending bool
		}
		if json.Unmarshal(text, &l) == nil && !l.Pending {
			f.done[l.Input] = struct{}{}
		}
		f.end += int64(len(text))
	}
}

// Record appends the line of an input, unless it is done, and syncs the file to the disk at most once a second. An
// input that is not final is pending, not done.
func (f *Inputs) Record(input string, answer any, failure error, final bool) error {
	l := line{Input: input, Answer: answer, Pending: !final}
	if failure != nil {
		l.Answer, l.Error = nil, failure.Error()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, done := f.done[input]; done {
		return nil
	}
	n, err := f.file.WriteAt(append(text, '\n'), f.end)
	if err != nil {
		return err // the next line overwrites what was written of this one
	}
	f.end += int64(n)
	if final {
		f.done[input] = struct{}{}
	}
	if time.Since(f.synced) < time.Second {
		return nil
	}
	f.synced = time.Now()
	return f.file.Sync()
}

// Done reports whether an input is done, by this process or an earlier one.
func (f *Inputs) Done(input string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, done := f.done[input]
	return done
}

// Close syncs the file to the disk, closes it and lets another process open it.
func (f *Inputs) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.file.Sync(), f.file.Close())
}
