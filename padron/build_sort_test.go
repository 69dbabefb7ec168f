package padron

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSortOffsets compares with a sort that looks at whole texts, on names whose texts go on alike for long.
func TestSortOffsets(t *testing.T) {
	for name, words := range map[string][]string{
		"short":            {"a", "b", "ab", " ", "\n"},
		"all bytes":        {"\x00", "\x09", "\x0b", "\xff", "\x7f", "\x80", "\n", "\x0a\x0a"},
		"the key's length": {"12345678", "1234567", "123456789", "\n"},
		"longer than kept": {strings.Repeat("x", sortedBytes-1), "xx", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 3))
			var names []byte
			for range 2000 {
				names = append(names, words[random.IntN(len(words))]...)
			}
			names = append(names, '\n')
			var want []uint32
			for at, c := range names[:min(len(names), 20_000)] {
				if c != '\n' && random.IntN(3) == 0 {
					want = append(want, uint32(at))
				}
			}
			got, err := sortOffsets(t.Context(), slices.Grow(names, 8), slices.Values(want))
			require.NoError(t, err)
			text := func(at uint32) []byte {
				text, _, _ := bytes.Cut(names[at:], []byte("\n"))
				return append(slices.Clip(text), '\n')[:min(len(text)+1, sortedBytes+2)]
			}
			slices.SortFunc(want, func(a, b uint32) int { return cmp.Or(bytes.Compare(text(a), text(b)), cmp.Compare(a, b)) })
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, want[i], got[i], "number %d", i)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sortOffsets(ctx, make([]byte, 1, 9), slices.Values([]uint32{0}))
	require.ErrorIs(t, err, context.Canceled)
}
