package padron

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
)

// pending is a row whose rank is not known yet.
type pending struct {
	ruc    uint64
	line   uint32
	folded []byte // its folded name
	rest   []byte // from appendRest
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
	return p, size + int(folded+rest) //nolint:gosec // appendTo wrote it
}

// rowsByRank keeps rows in a file, in buckets by what their rank depends on first: being active, and the length of the
// folded name.
type rowsByRank struct {
	file    *os.File
	used    int64
	buckets [2 * (lastBucket + 1)]bucket
}

// lastBucket is the length of a folded name from which all names share a bucket.
const lastBucket = 255

// bucket has the rows of one length. Its blocks in the file are full, and rows continue from one block to the next. The
// rest is in memory.
type bucket struct {
	blocks []int64 // their offsets in the file
	last   []byte
}

const bucketBlock = 1 << 16

func (r *rowsByRank) add(activo bool, p pending) error {
	number := min(len(p.folded), lastBucket)
	if !activo {
		number += lastBucket + 1
	}
	s := &r.buckets[number]
	s.last = p.appendTo(s.last)
	for len(s.last) >= bucketBlock {
		if _, err := r.file.WriteAt(s.last[:bucketBlock], r.used); err != nil {
			return err
		}
		s.blocks = append(s.blocks, r.used)
		r.used += bucketBlock
		s.last = append(s.last[:0], s.last[bucketBlock:]...)
	}
	return nil
}

// drain empties a bucket. It returns its rows, one after another, in buffer, or in a larger one.
func (r *rowsByRank) drain(number int, buffer []byte) ([]byte, error) {
	s := &r.buckets[number]
	blocks := len(s.blocks) * bucketBlock
	buffer = slices.Grow(buffer[:0], blocks+len(s.last))[:blocks]
	for i, at := range s.blocks {
		if _, err := r.file.ReadAt(buffer[i*bucketBlock:][:bucketBlock], at); err != nil {
			return nil, errors.Join(errors.New("reading the rows again"), err)
		}
	}
	buffer = append(buffer, s.last...)
	*s = bucket{}
	return buffer, nil
}
