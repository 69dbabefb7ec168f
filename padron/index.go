package padron

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Index is an open index. It is safe for concurrent use.
//
// Its file is mapped into memory if the system can do that. [Import] replaces the file and leaves the open one intact.
// If the open file is truncated or overwritten, calls fail and the process goes on. If bytes in its middle change, no
// call returns a wrong taxpayer, but one may be missing: [Index.Verify] detects that.
type Index struct {
	name string
	info Info

	mu     sync.RWMutex // read-locked while the file is read
	file   []byte       // nil once closed
	unmap  func() error
	header []byte // a copy: while the file begins with it, it was not overwritten

	content uint32 // the checksum of everything after the header

	names, rows       []byte
	nameAt, rowAt     numbers
	rucs              numbers
	activos           int
	beginnings, words sortedOffsets
	inner             sortedOffsets
	wordAt            numbers
	wordRanges        numbers
	texts             []string
	lugares           []lugar // by number of the text, if it is a code
}

// Open opens an index that [Import] made. It refuses a file that is truncated, damaged, of another version or not an
// index; [Index.Verify] detects bytes changed in its middle.
func Open(index string) (*Index, error) {
	x := &Index{name: index}
	if err := x.open(); err != nil {
		return nil, fmt.Errorf("padron: %s: %w", index, err)
	}
	return x, nil
}

func (x *Index) open() error {
	if info, err := os.Stat(x.name); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return errForeign
	}
	file, err := os.Open(x.name)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err // path itself would name the file again
		}
		return err
	}
	defer file.Close()
	if x.file, x.unmap, err = mapFile(file); err != nil {
		return err
	}
	if err := x.recovered(x.readSections); err != nil {
		return errors.Join(err, x.unmap())
	}
	return nil
}

func (x *Index) readSections() error {
	h, err := readHeader(x.file)
	if err != nil {
		return err
	}
	if x.info, err = h.info(); err != nil {
		return err
	}
	x.header, x.content = bytes.Clone(x.file[:headerSize]), h.Content
	at := func(number int) []byte { return h.section(x.file, number) }
	sorted := func(number int) (p sortedOffsets) {
		for level := range p {
			p[level] = at(number + level)
		}
		return p
	}
	x.names, x.rows = at(sectionNames), at(sectionRows)
	x.nameAt, x.rowAt = at(sectionNameAt), at(sectionRowAt)
	x.rucs = at(sectionRUCs)
	x.activos = int(h.Activos)
	x.beginnings, x.words, x.inner = sorted(sectionBeginnings), sorted(sectionWords), sorted(sectionInner)
	x.wordAt, x.wordRanges = at(sectionWordAt), at(sectionWordRanges)
	x.texts = strings.Split(string(at(sectionTexts)), "\n")
	for _, text := range x.texts {
		x.lugares = append(x.lugares, lugarOf(text))
	}
	n := x.info.Contribuyentes
	if x.nameAt.len() != n+1 || x.rowAt.len() != n || x.activos > n || x.wordRanges.len() != 4*x.wordAt.len() {
		return errDamaged
	}
	if slots := x.rucs.len(); slots <= n || slots&(slots-1) != 0 {
		return errDamaged
	}
	return nil
}

// Info says what the index was made from.
func (x *Index) Info() Info { return x.info }

// Close waits for the calls under way and closes the file. Later calls fail.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file == nil {
		return nil
	}
	x.file = nil
	return x.unmap()
}

// read calls do, which reads the file and keeps no reference to it.
func (x *Index) read(do func() error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.file == nil {
		return fmt.Errorf("padron: %s: %w", x.name, os.ErrClosed)
	}
	err := x.recovered(do)
	// What was read is right only if the file was not overwritten meanwhile.
	if now := x.recovered(x.isUnchanged); now != nil {
		err = now
	}
	if errors.Is(err, errDamaged) || errors.Is(err, errWrittenOver) {
		return fmt.Errorf("padron: %s: %w", x.name, err)
	}
	return err
}

func (x *Index) isUnchanged() error {
	if !bytes.Equal(x.file[:headerSize], x.header) {
		return errWrittenOver
	}
	return nil
}

// recovered calls do, and returns its panic as an error: an offset out of range, or the fault of a mapped page that is
// gone because the file was truncated.
func (x *Index) recovered(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w (%w)", errDamaged, cause)
		default:
			if cause != errDamaged { //nolint:errorlint // the very value of the panic
				panic(cause)
			}
			err = errDamaged
		}
	}()
	return do()
}
