package padron

import (
	"errors"
	"slices"
)

// rucs are the RUCs of the rows, each with its line in the lower bits.
type rucs struct {
	keys     []uint64
	unsorted bool
}

// lineBits are enough for 134 million lines; the 11 digits of a RUC take 37 bits.
const lineBits = 64 - 37

// add adds the row of a line. Lines come in order.
func (r *rucs) add(ruc uint64, line int) error {
	if line >= 1<<lineBits {
		return errors.New("more than 134 million lines")
	}
	if n := len(r.keys); n > 0 && r.keys[n-1]>>lineBits >= ruc {
		r.unsorted = true
	}
	r.keys = append(r.keys, ruc<<lineBits|uint64(line)) //nolint:gosec // see above
	return nil
}

// replaced returns the lines, in order, of the rows that a later row with the same RUC replaces.
func (r *rucs) replaced() []int {
	if !r.unsorted {
		return nil
	}
	slices.Sort(r.keys)
	var lines []int
	for i := 1; i < len(r.keys); i++ {
		if r.keys[i]>>lineBits == r.keys[i-1]>>lineBits {
			lines = append(lines, int(r.keys[i-1]&(1<<lineBits-1)))
		}
	}
	slices.Sort(lines)
	return lines
}
