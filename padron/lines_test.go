package padron

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func linesOf(t *testing.T, text string) (lines []string, read int) {
	t.Helper()
	err := eachLine(context.Background(), strings.NewReader(text), func(n int) { read += n }, func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	require.NoError(t, err)
	return lines, read
}

func TestEachLine(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":             {"", nil},
		"LF and CRLF":         {"a\nb\r\nc\n", []string{"a", "b", "c"}},
		"the last has no end": {"a\nb", []string{"a", "b"}},
		"... but a CR":        {"a\nb\r", []string{"a", "b"}},
		"empty ones":          {"\n\r\n\n", []string{"", "", ""}},
		"CR within":           {"a\rb\r\r\n", []string{"a\rb\r"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines, read := linesOf(t, test.text)
			assert.Equal(t, test.want, lines)
			assert.Equal(t, len(test.text), read)
		})
	}
}

// Wherever a chunk ends, the lines are the same.
func TestLinesOverTheEndOfAChunk(t *testing.T) {
	const end = "uno\r\ndos\n\r\ntres\n"
	want := strings.Split(strings.ReplaceAll(strings.TrimSuffix(end, "\n"), "\r", ""), "\n")
	for before := range len(end) + 1 {
		text := strings.Repeat(strings.Repeat("x", 1023)+"\n", chunkSize/1024-1) + strings.Repeat("y", 1023-before) + "\n" + end
		lines, _ := linesOf(t, text)
		require.Equal(t, want, lines[len(lines)-len(want):], "%d bytes of them in the first chunk", before)
		require.Len(t, lines, chunkSize/1024+len(want))
	}
}

// A longer line than a row's is seen to be longer, and costs no memory.
func TestLongLines(t *testing.T) {
	for _, length := range []int{longestLine, longestLine + 1, longestLine + 2, chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize + 5, 2 * chunks * chunkSize} {
		lines, _ := linesOf(t, "a\n"+strings.Repeat("x", length)+"\r\nb")
		require.Len(t, lines, 3)
		assert.Equal(t, "a", lines[0])
		assert.Equal(t, length > longestLine, len(lines[1]) > longestLine, "%d", length)
		assert.LessOrEqual(t, len(lines[1]), longestLine+2)
		assert.Equal(t, "b", lines[2])
	}
}

// endless gives blank lines for ever, reports each chunk that it is to read, and can be held.
type endless struct {
	asked chan<- struct{}
	held  <-chan struct{}
}

func (r endless) Read(p []byte) (int, error) {
	r.asked <- struct{}{}
	<-r.held
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// Nothing reads on when it is over: what is read may be closed then.
func TestNothingReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		asked, hold := make(chan struct{}, 100), make(chan struct{}, 100)
		hold <- struct{}{} // for the first chunk
		over := make(chan error, 1)
		go func() {
			over <- readAhead(endless{asked, hold}, func([]byte) error {
				<-asked
				<-asked // for the second
				return boom
			})
		}()
		synctest.Wait()
		assert.Empty(t, over, "a chunk is being read")
		close(hold)
		assert.Equal(t, boom, <-over)
	})
}
