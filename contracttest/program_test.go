package contracttest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var built struct {
	once sync.Once
	dir  string
	out  []byte
	err  error
}

// binary builds fiscope-mock, once for all tests, and returns its path.
func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a binary")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "fiscope-contracttest-"); built.err == nil {
			built.out, built.err = exec.Command("go", "build", "-o", built.dir, "github.com/fiscope/fiscope/cmd/fiscope-mock").CombinedOutput()
		}
	})
	require.NoError(t, built.err, "%s", built.out)
	return filepath.Join(built.dir, "fiscope-mock")
}

// command runs a command to its end.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// start runs a server until the test ends, and returns the URL in the first line that has the word.
func start(t *testing.T, word, name string, args ...string) (url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), word) {
			continue
		}
		url = lines.Text()[strings.Index(lines.Text(), "http"):]
		read := make(chan struct{})
		go func() { // or it would wait for a reader
			defer close(read)
			_, _ = io.Copy(io.Discard, stdout)
		}()
		t.Cleanup(func() { // the context of the test has ended it
			<-read
			_ = cmd.Wait()
		})
		return url
	}
	require.Fail(t, name+" ended")
	return ""
}
