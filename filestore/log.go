package filestore

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/internal/lockfile"
)

// A file is a header and entries, one a line. The last entry of a key counts. An incomplete line was cut short by a
// crash: it is ignored, and the next program that opens the file removes it.
//
// When too much no longer counts, the file is rewritten without it under another name, and then replaced. The header
// has a random id, so that other programs notice the replacement.
const (
	magic      = "fiscope store 1 "
	headerSize = int64(len(magic) + 26 + 1) // with rand.Text and a line feed
	slack      = 1 << 20                    // bytes of outdated entries that are always tolerated
)

// label is the part of a line that the index needs.
type label struct {
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// entry is the content of a line.
type entry struct {
	label
	Answer []byte       `json:"answer,omitempty"`
	Day    dayquota.Day `json:"day,omitzero"`
	SOL    credential   `json:"sol,omitzero"`
}

// extent says where the last entry of a key is.
type extent struct {
	at, size int64
	until    time.Time
}

// log is the file. mu protects its fields.
type log struct {
	path  string
	now   func() time.Time
	mu    chan struct{} // a mutex that can be acquired with a context
	file  *os.File      // open during do
	head  string        // the header of the file that was read last
	read  int64         // how much of it was read, in bytes
	index map[string]extent
	check int64 // the size from which the file may be rewritten
}

// do runs work while no other program or goroutine reads or writes the file.
func (l *log) do(ctx context.Context, work func(now time.Time) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("filestore: %s: %w", l.path, err)
		}
	}()
	select {
	case l.mu <- struct{}{}:
		defer func() { <-l.mu }()
	case <-ctx.Done():
		return ctx.Err()
	}
	lock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err = l.open(); err != nil {
		return err
	}
	now := l.now()
	if err = l.catchUp(); err == nil {
		err = work(now)
	}
	full := err == nil && l.full(now)
	if full {
		err = l.rewrite(now)
	}
	if err = errors.Join(err, l.file.Close()); err == nil && full {
		err = l.replace()
	}
	return err
}

// lock waits for the other programs.
func (l *log) lock(ctx context.Context) (*os.File, error) {
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for {
		file, err := lockfile.Open(l.path + ".lock")
		if !errors.Is(err, lockfile.ErrLocked) {
			return file, err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

// open opens the file, and creates it if missing.
func (l *log) open() error {
	info, err := os.Stat(l.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		l.index = nil
		if err = l.rewrite(l.now()); err == nil {
			err = l.replace()
		}
	}
	if err == nil {
		l.file, err = os.OpenFile(l.path, os.O_RDWR, 0)
	}
	return err
}

// catchUp reads what was written since the last time, by this program or another.
func (l *log) catchUp() error {
	head := make([]byte, headerSize)
	if _, err := l.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.HasPrefix(head, []byte(magic)) {
		return errors.New("it is not a store, or it is of another release: choose another path")
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if string(head) != l.head || info.Size() < l.read {
		l.head, l.read, l.index, l.check = string(head), headerSize, map[string]extent{}, 0
	}
	lines := bufio.NewReader(io.NewSectionReader(l.file, l.read, info.Size()-l.read))
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return l.file.Truncate(l.read)
		} else if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var e label
		if err = json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("it is damaged at byte %d: move it away, and a new one is made: %w", l.read, err)
		}
		l.note(e, int64(len(line)))
	}
}

func (l *log) note(e label, size int64) {
	l.index[e.Key] = extent{l.read, size, e.Until}
	l.read += size
}

// get returns the entry of a key; the zero entry if it is missing.
func (l *log) get(key string, now time.Time) (e entry, err error) {
	p, ok := l.index[key]
	if !ok || !now.Before(p.until) {
		return e, nil
	}
	line := make([]byte, p.size)
	if _, err = l.file.ReadAt(line, p.at); err != nil {
		return e, err
	}
	return e, json.Unmarshal(line, &e)
}

// put writes an entry, which replaces the entry of the same key. An expired entry deletes it.
func (l *log) put(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err = l.file.WriteAt(line, l.read); err != nil {
		return err
	}
	l.note(e.label, int64(len(line)))
	return nil
}

// full reports whether more than half of the file is outdated.
func (l *log) full(now time.Time) bool {
	if l.read < l.check {
		return false
	}
	l.check = l.read + slack
	counts := headerSize
	for _, p := range l.index {
		if now.Before(p.until) {
			counts += p.size
		}
	}
	return l.read > 2*counts+slack
}

// rewrite writes the entries that count to a new file.
func (l *log) rewrite(now time.Time) error {
	file, err := os.OpenFile(l.path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	_, err = fmt.Fprintf(out, "%s%s\n", magic, rand.Text())
	for _, p := range l.index {
		if err == nil && now.Before(p.until) {
			_, err = io.Copy(out, io.NewSectionReader(l.file, p.at, p.size))
		}
	}
	return errors.Join(err, out.Flush(), file.Sync(), file.Close())
}

// replace replaces this file, which must not be open, with the new one. A crash leaves one of the two.
func (l *log) replace() error { return os.Rename(l.path+".tmp", l.path) }
