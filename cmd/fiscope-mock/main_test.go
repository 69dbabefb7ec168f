package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// vars is an environment.
func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// lookup asks for one taxpayer and returns the status and X-RateLimit-Limit.
func lookup(t *testing.T, url, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", key)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header.Get("X-RateLimit-Limit")
}

// serving runs the program in-process and returns its first two lines; its end is checked at cleanup.
func serving(t *testing.T, env func(string) string, args ...string) (url, command string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	status := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		status <- run(ctx, args, env, in, &stderr)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		assert.Equal(t, 0, <-status)
		assert.Empty(t, stderr.String())
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	url = lines.Text()
	require.True(t, lines.Scan())
	return url, lines.Text()
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		env        func(string) string
		args       []string
		key, limit string
		word       string // the key, as a shell reads it
	}{
		"defaults":    {vars(), []string{"-addr", "127.0.0.1:0"}, "clave-de-prueba", "1000", "clave-de-prueba"},
		"flags":       {vars(), []string{"-addr", "127.0.0.1:0", "-api-key=k", "-quota", "7"}, "k", "7", "k"},
		"environment": {vars("FISCOPE_MOCK_ADDR", "127.0.0.1:0", "FISCOPE_MOCK_API_KEY", "e", "FISCOPE_MOCK_QUOTA", "8"), nil, "e", "8", "e"},
		"flag wins": {
			vars("FISCOPE_MOCK_ADDR", "nowhere", "FISCOPE_MOCK_API_KEY", "e e", "FISCOPE_MOCK_QUOTA", "many"),
			[]string{"-addr", ":0", "-api-key", "k", "-quota", "9"}, "k", "9", "k",
		},
		"unlimited": {vars(), []string{"-addr", "127.0.0.1:0", "-quota", "-1"}, "clave-de-prueba", "", "clave-de-prueba"},
		"shell key": {vars(), []string{"-addr", "127.0.0.1:0", "-api-key", "a'$b"}, "a'$b", "1000", `'a'\''$b'`},
	} {
		t.Run(name, func(t *testing.T) {
			url, command := serving(t, c.env, c.args...)
			assert.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, url)
			assert.Equal(t, "FISCOPE_BASE_URL="+url+" FISCOPE_API_KEY="+c.word+" go run ./examples/quickstart", command)
			status, limit := lookup(t, url, c.key)
			assert.Equal(t, 200, status)
			assert.Equal(t, c.limit, limit)
		})
	}
}

func TestRunRefuses(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = busy.Close() }()
	for name, c := range map[string]struct {
		env    func(string) string
		args   []string
		status int
		says   string
	}{
		"unknown flag":     {vars(), []string{"-puerto", "1"}, 2, "-puerto"},
		"quota":            {vars(), []string{"-quota", "mil"}, 2, "-quota: want a number of calls"},
		"negative quota":   {vars(), []string{"-quota", "-2"}, 2, "-quota"},
		"quota variable":   {vars("FISCOPE_MOCK_QUOTA", "mil"), nil, 2, `FISCOPE_MOCK_QUOTA="mil": want a number of calls`},
		"argument":         {vars(), []string{"8080"}, 2, `"8080"`},
		"command at last":  {vars(), []string{"-quota", "5", "exec", "--", "ls"}, 2, "the command exec comes first"},
		"timeout":          {vars(), []string{"-timeout", "1m"}, 2, "with exec only"},
		"address":          {vars(), []string{"-addr", "8080"}, 2, `"8080" of -addr or FISCOPE_MOCK_ADDR`},
		"port":             {vars(), []string{"-addr", "127.0.0.1:99999"}, 2, "invalid port"},
		"address variable": {vars("FISCOPE_MOCK_ADDR", "x"), nil, 2, "FISCOPE_MOCK_ADDR"},
		"empty address":    {vars(), []string{"-addr", ""}, 2, "address is empty"},
		"empty key":        {vars(), []string{"-api-key", ""}, 2, "API key is empty"},
		"key variable":     {vars("FISCOPE_MOCK_API_KEY", "a\x7f"), []string{"-addr", "127.0.0.1:0"}, 2, "not printable ASCII"},
		"time too early":   {vars(), []string{"-now", "1960-01-01T00:00:00Z"}, 2, "-now: the clock can be set to a time from 1970-01-01T00:00:00Z to 9000-01-01T00:00:00Z\n"},
		"negative":         {vars(), []string{"-assume", "BlockAfter=-1"}, 2, "fiscope-mock: -assume BlockAfter and BlockFor cannot be negative\n"},
		"status":           {vars(), []string{"-assume", "QuotaExceeded=200"}, 2, "-assume QuotaExceeded is 200 \"QUOTA_EXCEEDED\": give a status of 400 to 599\n"},
		"empty code":       {vars("FISCOPE_MOCK_ASSUME", "CodeInvalidRUC="), nil, 2, "-assume CodeInvalidRUC is empty: give a value\n"},
		"assumed quota":    {vars(), []string{"-assume", "Quota=-2"}, 2, "-assume Quota is below -1, which is unlimited\n"},
		"port in use":      {vars(), []string{"-addr", busy.Addr().String()}, 1, "cannot serve on " + busy.Addr().String()},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, c.status, run(t.Context(), c.args, c.env, &stdout, &stderr))
			assert.Empty(t, stdout.String())
			assert.Contains(t, stderr.String(), "fiscope-mock: ")
			assert.Contains(t, stderr.String(), c.says)
			assert.NotRegexp(t, `With[A-Z]|Assumptions\.|DefaultAssumptions`, stderr.String(), "the names of Go")
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, run(t.Context(), []string{"-h"}, vars(), &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, word := range []string{
		"-addr", "FISCOPE_MOCK_ADDR", "127.0.0.1:8080", "-api-key", "FISCOPE_MOCK_API_KEY", "clave-de-prueba",
		"-quota", "FISCOPE_MOCK_QUOTA", "1000", mockserver.RUCSolicitante, mockserver.UsuarioSOL, mockserver.ClaveSOL,
	} {
		assert.Contains(t, stdout.String(), word)
	}
	for line := range strings.Lines(stdout.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%q with its line end", line)
	}
}

func TestHelpIsAWord(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"help":    {[]string{"help"}, `(?s)^Usage: fiscope-mock .*\n  -addr HOST:PORT`},
		"help of": {[]string{"help", "exec"}, `^Usage: fiscope-mock `},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runProgram(t, nil, c.args...)
			assert.Equal(t, 0, status)
			assert.Empty(t, stderr)
			assert.Regexp(t, c.want, stdout)
		})
	}
	asked, _, _ := runProgram(t, nil, "-h")
	help, _, _ := runProgram(t, nil, "help")
	assert.Equal(t, asked, help)
}

// The built program, over a real socket, stopped as a supervisor stops it.
func TestProgram(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0", "FISCOPE_MOCK_API_KEY=del-entorno", "FISCOPE_MOCK_QUOTA=5"})
			assert.Equal(t, "FISCOPE_BASE_URL="+p.url+" FISCOPE_API_KEY=del-entorno go run ./examples/quickstart", p.command)
			status, limit := lookup(t, p.url, "del-entorno")
			assert.Equal(t, 200, status)
			assert.Equal(t, "5", limit)
			require.NoError(t, p.cmd.Process.Signal(signal))
			assert.False(t, p.lines.Scan(), "nothing more on stdout")
			assert.NoError(t, p.cmd.Wait(), "exit status 0")
			assert.Empty(t, p.stderr.String())
		})
	}
	t.Run("exit status 2", func(t *testing.T) {
		var exit *exec.ExitError
		require.ErrorAs(t, exec.Command(binary(t), "-quota", "x").Run(), &exit)
		assert.Equal(t, 2, exit.ExitCode())
	})
}
