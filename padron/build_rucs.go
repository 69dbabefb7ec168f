package padron

import (
	"errors"
	"slices"
)

// rucs are the RUCs of the rows in the order in which they came: each with its sequence, the number of its row, in the
// lower bits.
type rucs struct {
	keys     []uint64
	unsorted bool
}

// sequenceBits are enough for 134 million rows; the 11 digits of a RUC take 37.
const sequenceBits = 64 - 37

// add returns the row's sequence.
func (r *rucs) add(ruc uint64) (sequence uint32, err error) {
	if len(r.keys) == 1<<sequenceBits {
		return 0, errors.New("more than 134 million rows")
	}
	sequence = uint32(len(r.keys)) //nolint:gosec // see above
	if sequence > 0 && r.keys[sequence-1]>>sequenceBits >= ruc {
		r.unsorted = true
	}
	r.keys = append(r.keys, ruc<<sequenceBits|uint64(sequence))
	return sequence, nil
}

// replaced tells of each sequence whether a later row has the same RUC. It is nil where there is none such.
func (r *rucs) replaced() []bool {
	if !r.unsorted {
		return nil
	}
	slices.Sort(r.keys)
	var replaced []bool
	for i := 1; i < len(r.keys); i++ {
		if r.keys[i]>>sequenceBits == r.keys[i-1]>>sequenceBits {
			if replaced == nil {
				replaced = make([]bool, len(r.keys))
			}
			replaced[r.keys[i-1]&(1<<sequenceBits-1)] = true
		}
	}
	return replaced
}
