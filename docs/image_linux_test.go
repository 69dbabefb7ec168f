package docs_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command of the Dockerfile makes a program that needs nothing else: it is static, serves, says that it is well, and
// ends at SIGTERM.
func TestTheProgramOfTheImage(t *testing.T) {
	if !*runCommands {
		t.Skip("left out: the program of the image is built with -commands")
	}
	image := readDockerfile(repository(t)["Dockerfile"])
	root := filepath.Join(t.TempDir(), "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	line := regexp.MustCompile(`--mount=\S+ `).ReplaceAllString(image["RUN"][0], "")
	line = strings.Replace(line, "-o / ", "-o "+root+"/ ", 1)
	build := exec.CommandContext(t.Context(), "sh", "-c", line)
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)

	program, err := elf.Open(filepath.Join(root, "fiscope-mock"))
	require.NoError(t, err)
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries, "it is static")
	assert.Nil(t, program.Section(".interp"), "it is static")
	require.NoError(t, program.Close())

	mock := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "fiscope-mock"), args...)
		cmd.Env = []string{strings.Replace(image["ENV"][1], ":8080", ":0", 1)}
		return cmd
	}
	serving := mock()
	stdout, err := serving.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	serving.Stderr = &stderr
	require.NoError(t, serving.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan(), "%s", &stderr)
	url := lines.Text()

	assert.Equal(t, 200, status(t, url+"/api/contribuyentes/20131312955", "X-API-KEY", "clave-de-prueba"))
	assert.Equal(t, 403, status(t, url+"/_mock/data"), "there is no admin token")
	require.NoError(t, mock("health", url).Run(), "it is well")

	require.NoError(t, serving.Process.Signal(syscall.SIGTERM))
	_, err = io.Copy(io.Discard, stdout)
	require.NoError(t, err)
	assert.NoError(t, serving.Wait(), "%s", &stderr)
	var exit *exec.ExitError
	require.ErrorAs(t, mock("health", url).Run(), &exit, "it is gone")
	assert.Equal(t, 1, exit.ExitCode())
}

func status(t *testing.T, url string, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
