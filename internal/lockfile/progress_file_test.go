package lockfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/lockfile"
)

func open(t *testing.T, path string) *lockfile.Inputs {
	t.Helper()
	f, err := lockfile.OpenInputs(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// What was recorded is in the file, a line each, and another process has it.
func TestInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f := open(t, path)
	require.NoError(t, f.Record("a", nil, nil, true))
	require.NoError(t, f.Record("a", "once is enough", nil, true))
	require.NoError(t, f.Record("b", map[string]int{"n": 1}, nil, false))
	require.NoError(t, f.Record("b", map[string]int{"n": 2}, nil, true))
	require.NoError(t, f.Record("c \n\x00", "no answer", errors.New("failed"), false))
	want := `{"input":"a"}` + "\n" + `{"input":"b","answer":{"n":1},"pending":true}` + "\n" + `{"input":"b","answer":{"n":2}}` + "\n" +
		`{"input":"c \n\u0000","error":"failed","pending":true}` + "\n"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(text))

	_, err = lockfile.OpenInputs(path)
	require.ErrorIs(t, err, lockfile.ErrLocked)
	require.NoError(t, f.Close())
	require.Error(t, f.Record("d", nil, nil, true), "it is closed")

	f = open(t, path)
	for input, done := range map[string]bool{"a": true, "b": true, "c \n\x00": false, "d": false} {
		assert.Equal(t, done, f.Done(input), input)
	}
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
			require.Equal(t, strings.Contains(left, `"`+input+`"`), f.Done(input), "%s after %d bytes", input, cut)
		}
		require.NoError(t, f.Record("9", nil, nil, true))
		require.NoError(t, f.Close())
		f = open(t, path)
		require.True(t, f.Done("9"), "what follows a cut line is whole")
		require.NoError(t, f.Close())
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
			_, err := lockfile.OpenInputs(path)
			require.ErrorContains(t, err, "it holds something else")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		})
	}
}
