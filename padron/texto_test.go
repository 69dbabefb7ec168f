package padron

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASCII(t *testing.T) {
	for length := range 40 {
		text := []byte(strings.Repeat("\x7f", length))
		assert.True(t, ascii(text))
		for i := range text {
			text[i] = 0x80
			assert.False(t, ascii(text), "%d of %d", i, length)
			text[i] = 'x'
		}
	}
}

func TestIsUTF8(t *testing.T) {
	for name, test := range map[string]struct {
		end  string
		want bool
	}{
		"ASCII":             {"abcdef", true},
		"two bytes":         {"aÑbÑc", true},
		"three bytes":       {"a€b€", true},
		"four bytes":        {"a😀b😀", true},
		"one byte is not":   {"Ñ\xd1Ñ", false},
		"cut at the end":    {"aÑ€\xe2\x82", false},
		"cut before others": {"\xe2\x82ab", false},
		"a lone rest":       {"a\x91b", false},
		"a surrogate":       {"\xed\xa0\x80", false},
	} {
		t.Run(name, func(t *testing.T) {
			for before := range len(test.end) + 1 { // so many bytes of it are in the first chunk
				got, err := onlyUTF8(t.Context(), strings.NewReader(strings.Repeat("x", chunkSize-before)+test.end), func(int) {})
				require.NoError(t, err)
				assert.Equal(t, test.want, got, before)
			}
			got, err := onlyUTF8(t.Context(), strings.NewReader(test.end), func(int) {})
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
