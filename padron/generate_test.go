package padron

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read is what was generated, to the last odd row.
func TestGeneratedRowsAreRead(t *testing.T) {
	for _, test := range []struct {
		rows int
		seed uint64
	}{{0, 1}, {1, 1}, {2, 1}, {1000, 7}, {20_000, 2}, {200_000, 1}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			var text bytes.Buffer
			want, err := generate(&text, test.rows, test.seed)
			require.NoError(t, err)
			size := text.Len()
			assert.True(t, bytes.HasPrefix(text.Bytes(), inWindows1252(header+"\r\n")))
			var got Report
			duplicates, named, read := 0, 0, 0
			seen := map[uint64]bool{}
			err = readRows(t.Context(), &text, false, &got, func(n int) { read += n }, func(r *row) error {
				if seen[r.ruc] {
					duplicates++
				}
				seen[r.ruc] = true
				if len(r.nombre) > 0 {
					named++
				}
				if ruc := fmt.Sprintf("%011d", r.ruc); r.line%10 == 0 && !strings.HasPrefix(ruc, "00") && fiscope.ValidarRUC(ruc) != nil {
					assert.Fail(t, "a wrong check digit", ruc)
				}
				return nil
			})
			require.NoError(t, err)
			got.First, got.Duplicates, got.Taken = nil, duplicates, len(seen)
			assert.Equal(t, want, got)
			assert.Equal(t, test.rows, got.Rows)
			assert.Equal(t, len(seen)+duplicates-got.WithoutName, named)
			assert.Equal(t, size, read)
			if test.rows >= 200_000 {
				for kind, count := range map[string]int{"TooFewFields": got.TooFewFields, "TooLong": got.TooLong, "BadRUC": got.BadRUC,
					"WithoutName": got.WithoutName, "Duplicates": got.Duplicates} {
					assert.Positive(t, count, kind)
				}
				assert.InDelta(t, .0001, float64(got.Odd())/float64(got.Rows), .00008)
				assert.InDelta(t, 87, float64(size)/float64(got.Rows), 5, "bytes a row")
			}
		})
	}
}

// The traps of the published file are all in a generated one.
func TestGeneratedShapes(t *testing.T) {
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
	require.NoError(t, Generate(&b, shaped, 1))
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
		fields := strings.Split(line, "|")
		longest = max(longest, len(line))
		for _, column := range []int{columnNombreVia, columnNombreZona} {
			if len(fields) > column && len(fields[0]) == 11 && !strings.HasPrefix(line, "RUC") {
				switch length := len(fields[column]); {
				case length == cutAt:
					cut++
				case length > cutAt:
					assert.Fail(t, "too long", fields[column])
				}
			}
		}
	}
	assert.Positive(t, cut)
	assert.Less(t, longest, 400)
	same, other := &bytes.Buffer{}, &bytes.Buffer{}
	require.NoError(t, Generate(same, shaped, 1))
	require.NoError(t, Generate(other, shaped, 2))
	assert.True(t, text == same.String(), "the same seed")
	assert.False(t, text == other.String(), "another seed")
}

// failing fails to write.
type failing struct{}

var errFull = errors.New("no room")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestGenerateTellsThatItCouldNotWrite(t *testing.T) {
	assert.ErrorIs(t, Generate(failing{}, 1, 1), errFull)
	assert.ErrorIs(t, Generate(failing{}, 100_000, 1), errFull)
}

func BenchmarkGenerate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, Generate(&bytes.Buffer{}, 100_000, 1))
	}
}

func BenchmarkRows(b *testing.B) {
	var text bytes.Buffer
	require.NoError(b, Generate(&text, 100_000, 1))
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		_ = readRows(context.Background(), bytes.NewReader(text.Bytes()), false, &Report{}, func(int) {}, func(*row) error { return nil })
	}
}
