package jsonlines_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/jsonlines"
)

func of(path string) (*jsonlines.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return jsonlines.Of(file)
}

func open(t *testing.T, path string) *jsonlines.File {
	t.Helper()
	f, err := of(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// What was recorded is in the file, a line each, and another process has it.
func TestInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f := open(t, path)
	may, june := time.Date(2026, time.May, 4, 0, 0, 0, 0, time.UTC), time.Date(2026, time.June, 4, 1, 2, 3, 0, time.UTC)
	var want strings.Builder
	for _, r := range []struct {
		jsonlines.Line
		text string // "" if it is left out
	}{
		{jsonlines.Line{Input: "a"}, `{"input":"a"}`},
		{jsonlines.Line{Input: "a", Answer: []byte(`"once is enough"`)}, ""},
		{jsonlines.Line{Input: "b", Answer: []byte(`{"n": 1}`), Pending: true}, `{"input":"b","answer":{"n":1},"pending":true}`},
		{jsonlines.Line{Input: "b", Answer: []byte(`{"n": 2}`)}, `{"input":"b","answer":{"n":2}}`},
		{jsonlines.Line{Input: "c \n\x00", Error: "failed", Pending: true}, `{"input":"c \n\u0000","error":"failed","pending":true}`},
		{jsonlines.Line{Input: "d", Source: "service", AsOf: june}, `{"input":"d","source":"service","asOf":"2026-06-04T01:02:03Z"}`},
		{jsonlines.Line{Input: "d", Error: "a failure does not hide the answer", Pending: true}, ""},
		{jsonlines.Line{Input: "d", Answer: []byte(`"nor does an older one"`), AsOf: may, Pending: true}, ""},
		{jsonlines.Line{Input: "d", AsOf: may}, `{"input":"d","asOf":"2026-05-04T00:00:00Z"}`},
		{jsonlines.Line{Input: "d", AsOf: june, Pending: true}, `{"input":"d","pending":true,"asOf":"2026-06-04T01:02:03Z"}`},
	} {
		require.NoError(t, f.Record(r.Line))
		if r.text != "" {
			want.WriteString(r.text + "\n")
		}
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want.String(), string(text))

	require.NoError(t, f.Close())
	require.Error(t, f.Record(jsonlines.Line{Input: "e"}), "it is closed")

	f = open(t, path)
	for input, done := range map[string]bool{"a": true, "b": true, "c \n\x00": false, "d": false, "e": false} {
		_, got := f.Done(input)
		assert.Equal(t, done, got, input)
	}
	lines, err := jsonlines.Read(path)
	require.NoError(t, err)
	require.Len(t, lines, 4)
	assert.Equal(t, jsonlines.Line{Input: "b", Answer: []byte(`{"n":2}`)}, lines[1])
	assert.Equal(t, jsonlines.Line{Input: "d", AsOf: june, Pending: true}, lines[3])
}

// A file that was cut anywhere has all whole lines, and takes others. An invalid line is ignored.
func TestInputsOfACutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	whole := `{"input":"0"}` + "\n" + `{"input":"torn,` + "\n" + `{"input":"1"}` + "\n" + `{"input":"2","answer":{}}` + "\n"
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		f := open(t, path)
		left := whole[:strings.LastIndexByte(whole[:cut], '\n')+1]
		for _, input := range []string{"0", "1", "2"} {
			_, done := f.Done(input)
			require.Equal(t, strings.Contains(left, `"`+input+`"`), done, "%s after %d bytes", input, cut)
		}
		require.NoError(t, f.Record(jsonlines.Line{Input: "9"}))
		require.NoError(t, f.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, left+`{"input":"9"}`+"\n", string(text), "what follows a cut line is whole")
	}
}

func TestWhatIsNoFileOfInputsStaysAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"a list":     "ruc\n20131312955\n",
		"zeros":      strings.Repeat("\x00", 4096),
		"other JSON": `{"ruc":"20131312955"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := of(path)
			require.ErrorContains(t, err, "it holds something else")
			_, err = jsonlines.Read(path)
			require.ErrorContains(t, err, "it holds something else")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		})
	}
}
