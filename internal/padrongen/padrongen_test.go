package padrongen

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The traps of the published file are all in a generated one.
func TestShapes(t *testing.T) {
	for _, values := range [][]weighted{estadosGenerados, condicionesGeneradas} {
		sum := 0
		for _, v := range values {
			sum += v.weight
			assert.LessOrEqual(t, len(v.value), 20)
		}
		assert.Equal(t, 10_000, sum)
	}
	const shaped = 50_000
	var b bytes.Buffer
	counts, err := Generate(&b, shaped, 1)
	require.NoError(t, err)
	assert.Equal(t, shaped, counts.Rows)
	text := b.String()
	for _, has := range []string{"\r\n", "|\n", "\xd1", "\x93", "\x94", `"`, "|-.-|", "|----|", "|S/N|", "|150199|", "|990101|", "|-|-|-|-|-|-|-|-|-|-|-|",
		"|NO HALLADO SE MUDO D|", "\n00", "\n10", "\n15", "\n16", "\n17", "\n20", "|CAL.|", "|AV.|", "  "} {
		assert.Contains(t, text, has)
	}
	assert.NotEqual(t, byte('\n'), text[len(text)-1], "the last line has no end")
	count := func(field string) float64 { return float64(strings.Count(text, "|"+field+"|")) / shaped }
	assert.InDelta(t, .563, count("BAJA DEFINITIVA"), .01)
	assert.InDelta(t, .422, count("ACTIVO"), .01)
	assert.InDelta(t, .935, count("HABIDO"), .01)
	assert.InDelta(t, .022, count("NO HABIDO"), .002)
	longest, cut := 0, 0
	for line := range strings.Lines(text) {
		longest = max(longest, len(line))
		for _, field := range strings.Split(line, "|")[2:] {
			assert.LessOrEqual(t, len(field), cutAt)
			if len(field) == cutAt {
				cut++
			}
		}
	}
	assert.Positive(t, cut, "a street or a zone as long as its column")
	assert.Less(t, longest, 400)
	assert.InDelta(t, 87, len(text)/shaped, 5, "bytes a row")
	same, other := &bytes.Buffer{}, &bytes.Buffer{}
	_, err = Generate(same, shaped, 1)
	require.NoError(t, err)
	_, err = Generate(other, shaped, 2)
	require.NoError(t, err)
	assert.True(t, text == same.String(), "the same seed")
	assert.Equal(t, "0a3be79608d82d90", fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))[:16], "measured figures are compared with those of earlier versions")
	assert.False(t, text == other.String(), "another seed")
}

// full fails to write.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f }

func TestGenerateTellsThatItCouldNotWrite(t *testing.T) {
	noRoom := full{errors.New("no room")}
	for _, rows := range []int{1, 20_000} {
		_, err := Generate(noRoom, rows, 1)
		assert.ErrorIs(t, err, noRoom)
	}
}
