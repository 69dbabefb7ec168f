package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On a terminal the start says what there is and how to try it, and each call is a line in colour.
func TestTheStartOnATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		env, flags string
		want       []string
		coloured   bool
	}{
		"usual": {"", "-addr 127.0.0.1:0 -quota 7", []string{
			`^(http://127\.0\.0\.1:\d+)\n`, `  Página +http://127\.0\.0\.1:\d+/_mock/\n`, `  Clave de API +clave-de-prueba, 7 consultas al día\n`,
			`  Pruébelo +curl -H 'X-API-KEY: clave-de-prueba' \\\n +http://127\.0\.0\.1:\d+/api/contribuyentes/20131312955\n`,
		}, true},
		"open to others, without colours": {"NO_COLOR=1", "-addr :0 -api-key c=-1", []string{
			`  Página +cerrada, como toda la administración: la abre -admin-token\n`, `  Clave de API +c, sin límite de consultas\n`,
		}, false},
		"with a token": {"", "-addr :0 -admin-token t0ken -log text", []string{`  Página +http://127\.0\.0\.1:\d+/_mock/\n`}, true},
		"https":        {"NO_COLOR=1", "-addr 127.0.0.1:0 -tls", []string{`  Pruébelo +curl --cacert \S+\.pem \\\n +-H 'X-API-KEY: clave-de-prueba' \\\n +https://`}, false},
		"no calls":     {"", "-addr 127.0.0.1:0 -log off", []string{`  Para terminar +Ctrl-C\n$`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := onTerminal(t, "stty -onlcr; export TERM=xterm; unset NO_COLOR; "+c.env+` "$0" `+c.flags+`; echo "status $?"`)
			url := s.shows(`(https?://\S+)\n`)
			s.shows("Ctrl-C\n")
			for _, want := range c.want {
				assert.Regexp(t, want, s.text.String())
			}
			for line := range strings.Lines(s.text.String()) {
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.ReplaceAll(line, os.TempDir(), "/tmp")), 80+1, "%q", line)
			}
			assert.NotContains(t, s.text.String(), "t0ken")
			assert.NotContains(t, s.text.String(), "go run")
			if strings.HasPrefix(url, "http:") {
				lookup(t, url, "clave-de-prueba")
				if !strings.Contains(c.flags, "-log off") {
					s.shows(`\n\d\d:\d\d:\d\d (?:\x1b\[3\dm)?\d+`)
				}
			}
			s.typed("\x03")
			s.shows("status 0")
			s.ends()
			assert.Equal(t, c.coloured, strings.Contains(s.text.String(), "\x1b["))
		})
	}
}

// What pipes rely on is one line, whatever stderr is.
func TestTheStartOnAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	s := onTerminal(t, `"$0" -addr 127.0.0.1:0 >`+name+` & echo "pid $! "; wait $!; echo "status $?"`)
	s.shows(`pid (\d+) `)
	url := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+)\n$`)
	require.Eventually(t, func() bool { text, _ := os.ReadFile(name); return url.Match(text) }, 10*time.Second, time.Millisecond)
	lookup(t, string(url.FindSubmatch(readFile(t, name))[1]), "clave-de-prueba")
	s.shows(`200`)
	pid, err := strconv.Atoi(s.shows(`pid (\d+) `))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	s.shows("status 0")
	s.ends()
	assert.Regexp(t, url, string(readFile(t, name)))

	p := startProgram(t, nil, "-addr", "127.0.0.1:0")
	lookup(t, p.url, "otra")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.False(t, p.lines.Scan(), "nothing more on stdout")
	require.NoError(t, p.cmd.Wait())
	assert.Empty(t, p.stderr.String(), "no calls where nobody looks")
}
