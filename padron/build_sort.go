package padron

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// sortOffsets returns offsets sorted by the first sortedBytes of the text at each, up to the end of its name, and then
// by offset. No offset may be at the end of a name. names must have spare capacity for eight bytes. It iterates over
// offsets twice.
func sortOffsets(ctx context.Context, names []byte, offsets iter.Seq[uint32]) ([]uint32, error) {
	names = names[:len(names)+8] // keyAt reads eight bytes
	// First by the first two bytes, then each of these groups by itself.
	two := func(offset uint32) int { return int(binary.BigEndian.Uint16(names[offset:])) }
	var ends [1<<16 + 1]uint32
	for offset := range offsets {
		ends[two(offset)+1]++
	}
	for i := range 1 << 16 {
		ends[i+1] += ends[i]
	}
	sorted := make([]uint32, ends[1<<16])
	for offset := range offsets { // ends[i] moves from the beginning of group i to its end
		sorted[ends[two(offset)]] = offset
		ends[two(offset)]++
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		workers.Go(func() {
			var keys []keyed
			for two := next.Add(1) - 1; two < 1<<16 && ctx.Err() == nil; two = next.Add(1) - 1 {
				from := uint32(0)
				if two > 0 {
					from = ends[two-1]
				}
				part := sorted[from:ends[two]]
				if len(part) < 2 || two>>8 == '\n' || two&0xFF == '\n' {
					continue // already sorted by offset
				}
				keys = slices.Grow(keys[:0], len(part))
				sortFrom(names, part, 2, keys[:len(part)])
			}
		})
	}
	workers.Wait()
	return sorted, ctx.Err()
}

// keyed is an offset with eight bytes of its text.
type keyed struct {
	key    uint64
	offset uint32
}

// sortFrom sorts offsets whose texts begin with the same depth bytes, none of them the end of a name. keys is a buffer
// of the same length.
func sortFrom(names []byte, offsets []uint32, depth uint32, keys []keyed) {
	for i, offset := range offsets {
		keys[i] = keyed{keyAt(names, offset+depth), offset}
	}
	slices.SortFunc(keys, func(a, b keyed) int {
		if a.key != b.key {
			if a.key < b.key {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.offset, b.offset)
	})
	for i := range keys {
		offsets[i] = keys[i].offset
	}
	if depth += 8; depth >= sortedBytes {
		return
	}
	// sortFrom overwrites the keys of the part that it sorts.
	for i := 0; i < len(keys); {
		key, from := keys[i].key, i
		for i++; i < len(keys) && keys[i].key == key; {
			i++
		}
		if i-from > 1 && !holdsEnd(key) {
			sortFrom(names, offsets[from:i], depth, keys[from:i])
		}
	}
}

// keyAt returns eight bytes as a number that compares as they do, with 0 for bytes after the end of the name.
func keyAt(names []byte, at uint32) uint64 {
	key := binary.BigEndian.Uint64(names[at:])
	if holdsEnd(key) {
		for shift := 56; shift >= 0; shift -= 8 {
			if key>>shift&0xFF == '\n' {
				return key >> shift << shift
			}
		}
	}
	return key
}

// holdsEnd reports whether one of eight bytes is LF.
func holdsEnd(key uint64) bool {
	const ones, lf = 0x0101010101010101, 0x0A0A0A0A0A0A0A0A
	zeros := key ^ lf
	return (zeros-ones)&^zeros&(ones<<7) != 0
}
