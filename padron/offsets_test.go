package padron

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomOffsets returns offsets in no order, with their minima, as they lie in a file.
func randomOffsets(random *rand.Rand, n int) (list []uint32, offsets sortedOffsets) {
	for range n {
		list = append(list, random.Uint32())
	}
	level := list
	for i := range offsets {
		if i > 0 {
			level = minimaOf(level)
		}
		for _, n := range level {
			offsets[i] = binary.LittleEndian.AppendUint32(offsets[i], n)
		}
	}
	return list, offsets
}

func TestLeast(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000} {
		list, offsets := randomOffsets(random, n)
		for range 500 {
			l := random.IntN(n)
			r := l + 1 + random.IntN(n-l)
			if random.IntN(2) == 0 {
				r = min(r, l+1+random.IntN(200))
			}
			at := offsets.least(l, r)
			require.True(t, l <= at && at < r, "%d in %d to %d", at, l, r)
			require.Equal(t, slices.Min(list[l:r]), list[at])
		}
		assert.Equal(t, slices.Min(list), list[offsets.least(0, n)])
	}
}

// TestEndOf finds the end of what comes first. It looks at few.
func TestEndOf(t *testing.T) {
	for _, from := range []int{0, 3} {
		for end := from; end < 140; end++ {
			for to := end; to < 150; to++ {
				looks := 0
				require.Equal(t, end, endOf(from, to, func(i int) bool {
					require.True(t, from <= i && i < to)
					looks++
					return i < end
				}))
				require.LessOrEqual(t, looks, 2*bits.Len(uint(end-from))+1)
			}
		}
	}
}
