package padron

import (
	"bytes"
	"math"
	"slices"
	"sort"
)

// sortedOffsets are offsets in the names, sorted by the text that begins there, and the minima of their blocks: number
// i of a level is the least of numbers 64*i to 64*i+63 of the previous level.
type sortedOffsets [sectionLevels]numbers

// blockBits is the binary logarithm of the block size: how many numbers one number of the next level stands for.
const blockBits = 6

// minimaOf returns the next level.
func minimaOf(level []uint32) []uint32 {
	minima := make([]uint32, 0, (len(level)+1<<blockBits-1)>>blockBits)
	for block := range slices.Chunk(level, 1<<blockBits) {
		minima = append(minima, slices.Min(block))
	}
	return minima
}

// least returns the index of the least offset from l to r, a range that is not empty.
func (p *sortedOffsets) least(l, r int) int {
	least, at, level := uint32(math.MaxUint32), l, 0
	scan := func(of, from, to int) {
		for i := from; i < to; i++ {
			if n := p[of].at(i); n < least {
				least, at, level = n, i, of
			}
		}
	}
	for of := 0; ; of++ {
		from, to := (l+1<<blockBits-1)>>blockBits, r>>blockBits
		if from >= to || of == len(p)-1 {
			scan(of, l, r)
			break
		}
		scan(of, l, from<<blockBits)
		scan(of, to<<blockBits, r)
		l, r = from, to
	}
	for ; level > 0; level-- { // into the block that has it
		at <<= blockBits
		for last := at + 1<<blockBits - 1; at < last && p[level-1].at(at) != least; {
			at++
		}
	}
	return at
}

// span returns the range of the offsets between l and r that have text skip bytes on. They must be sorted by that text.
func (p *sortedOffsets) span(names []byte, l, r, skip int, text []byte) (from, to int) {
	there := func(i int) []byte {
		at := int(p[0].at(i)) + skip
		return names[at:min(at+len(text), len(names))]
	}
	from = l + sort.Search(r-l, func(i int) bool { return bytes.Compare(there(l+i), text) >= 0 })
	return from, endOf(from, r, func(i int) bool { return bytes.Equal(there(i), text) })
}

// endOf returns the end of the indexes between from and to for which has is true, which come first. It searches in
// growing steps: usually there are few.
func endOf(from, to int, has func(int) bool) int {
	at, step := from, 1
	for at < to && has(at) {
		from = at + 1
		at += step
		step *= 2
	}
	return from + sort.Search(min(at, to)-from, func(i int) bool { return !has(from + i) })
}
