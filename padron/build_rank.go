package padron

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
)

// pending is a row that waits for its place.
type pending struct {
	ruc    uint64
	line   uint32
	folded []byte // its folded name
	rest   []byte // of appendRest
}

// appendTo writes a pending row.
func (p *pending) appendTo(dst []byte) []byte {
	dst = appendRUC(dst, p.ruc)
	dst = binary.LittleEndian.AppendUint32(dst, p.line)
	dst = binary.AppendUvarint(dst, uint64(len(p.folded)))
	dst = binary.AppendUvarint(dst, uint64(len(p.rest)))
	dst = append(dst, p.folded...)
	return append(dst, p.rest...)
}

// readPending returns the pending row that text begins with, and its size.
func readPending(text []byte) (p pending, size int) {
	p.ruc, p.line = rucOf(text), binary.LittleEndian.Uint32(text[rucSize:])
	size = rucSize + 4
	folded, n := binary.Uvarint(text[size:])
	size += n
	rest, n := binary.Uvarint(text[size:])
	size += n
	p.folded = text[size:][:folded]
	p.rest = text[size:][folded:][:rest]
	return p, size + int(folded+rest) //nolint:gosec // what appendTo wrote
}

// rowsByRank keeps rows in a file, by what their rank depends on first: being active, and the length of the folded
// name.
type rowsByRank struct {
	file  *os.File
	used  int64
	shelf [2 * (longestShelf + 1)]shelf
}

// longestShelf is the length of a folded name from which on names of different lengths stand together.
const longestShelf = 255

// shelf has the rows of one length. Its blocks are full, the rows go on from one to the next, and the last one is in
// memory.
type shelf struct {
	blocks []int64 // their offsets in the file
	last   []byte
}

const shelfBlock = 1 << 16

func (r *rowsByRank) add(activo bool, p pending) error {
	number := min(len(p.folded), longestShelf)
	if !activo {
		number += longestShelf + 1
	}
	s := &r.shelf[number]
	s.last = p.appendTo(s.last)
	for len(s.last) >= shelfBlock {
		if _, err := r.file.WriteAt(s.last[:shelfBlock], r.used); err != nil {
			return err
		}
		s.blocks = append(s.blocks, r.used)
		r.used += shelfBlock
		s.last = append(s.last[:0], s.last[shelfBlock:]...)
	}
	return nil
}

// drain returns the rows of a shelf, one after another, in a buffer that has the capacity of the one given or more.
// The shelf is empty then.
func (r *rowsByRank) drain(number int, buffer []byte) ([]byte, error) {
	s := &r.shelf[number]
	blocks := len(s.blocks) * shelfBlock
	buffer = slices.Grow(buffer[:0], blocks+len(s.last))[:blocks]
	for i, at := range s.blocks {
		if _, err := r.file.ReadAt(buffer[i*shelfBlock:][:shelfBlock], at); err != nil {
			return nil, errors.Join(errors.New("reading the rows again"), err)
		}
	}
	buffer = append(buffer, s.last...)
	*s = shelf{}
	return buffer, nil
}
