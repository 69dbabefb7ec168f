//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// underExec is a command under exec.
type underExec struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr *bytes.Buffer // to be read after Wait
}

// startExec runs exec, in a session and a group of its own and without a terminal, until its command has
// written "ready". It is killed with the test, if it still runs.
func startExec(t *testing.T, env []string, command ...string) underExec {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	e := underExec{cmd: exec.CommandContext(ctx, command[0], command[1:]...), stderr: new(bytes.Buffer)}
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	e.cmd.Env = append(os.Environ(), env...)
	e.cmd.Stderr = e.stderr
	e.cmd.WaitDelay = 10 * time.Second // what the command has left running may hold stderr
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, e.cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = e.cmd.Wait()
	})
	e.lines = bufio.NewScanner(stdout)
	require.True(t, e.lines.Scan())
	require.Equal(t, "ready", e.lines.Text())
	return e
}

// rest reads what the command writes to its end, and returns exec's status.
func (e underExec) rest(t *testing.T) (lines []string, status int) {
	t.Helper()
	for e.lines.Scan() {
		lines = append(lines, e.lines.Text())
	}
	_ = e.cmd.Wait() // the status says it
	return lines, e.cmd.ProcessState.ExitCode()
}

// traps is a command that reports each signal, and ends at SIGINT. It sleeps in the background, so that
// the shell acts at once: a trap waits for a command in front.
const traps = `trap "echo TERM" TERM; trap "echo HUP" HUP; trap 'echo INT; kill $!; exit 9' INT
echo ready; while :; do sleep 60 >/dev/null 2>&1 & wait $!; done`

func TestExecForwardsSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signals []syscall.Signal
	}{
		"INT":     {[]syscall.Signal{syscall.SIGINT}},
		"TERM":    {[]syscall.Signal{syscall.SIGTERM}},
		"HUP":     {[]syscall.Signal{syscall.SIGHUP}},
		"several": {[]syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT}},
	} {
		t.Run(name, func(t *testing.T) {
			e := startExec(t, []string{"TELL_SIGNALS=1"}, binary(t), "exec", "--", os.Args[0])
			var want, got []string
			for _, s := range c.signals {
				want = append(want, s.String())
				require.NoError(t, e.cmd.Process.Signal(s))
				require.True(t, e.lines.Scan())
				got = append(got, e.lines.Text())
			}
			require.NoError(t, e.cmd.Process.Signal(syscall.SIGQUIT)) // after what was forwarded before
			lines, status := e.rest(t)
			assert.Equal(t, append(want, syscall.SIGQUIT.String()), append(got, lines...), "each once")
			assert.Equal(t, 9, status, "the command's own")
		})
	}
}

func TestExecLeavesAnIgnoredSIGHUPIgnored(t *testing.T) {
	// Ignored as nohup does it; a shell cannot trap what was ignored when it began.
	e := startExec(t, nil, "sh", "-c", `trap "" HUP; exec "$0" exec -- sh -c '`+strings.ReplaceAll(traps, "'", `'"'"'`)+`'`, binary(t))
	require.NoError(t, syscall.Kill(e.cmd.Process.Pid, syscall.SIGHUP))
	require.NoError(t, syscall.Kill(e.cmd.Process.Pid, syscall.SIGINT))
	lines, status := e.rest(t)
	assert.Equal(t, []string{"INT"}, lines)
	assert.Equal(t, 9, status)

	stdout, _, status := runProgram(t, nil, "exec", "--", "sh", "-c", `kill -HUP $$; echo alive`)
	assert.Equal(t, 128+1, status, "not ignored where it was not")
	assert.Empty(t, stdout)
}

// places are where the program writes its files.
type places struct{ temporary string }

func newPlaces(t *testing.T) places { return places{t.TempDir()} }

func (p places) env() []string {
	return []string{"TMPDIR=" + p.temporary, "FISCOPE_MOCK_ADDR=127.0.0.1:0", "FISCOPE_MOCK_TLS=true", "FISCOPE_MOCK_LOG=off"}
}

// written asserts that files are there, while the program runs.
func (p places) written(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(p.temporary)
	require.NoError(t, err)
	assert.NotEmpty(t, entries, "the CA")
}

func (p places) empty(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(p.temporary)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// A terminal that is closed sends SIGHUP, and the shell in it may send another one.
func TestSIGHUPLeavesNoFileBehind(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		where := newPlaces(t)
		p := startProgram(t, where.env())
		where.written(t)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
		_ = p.cmd.Process.Signal(syscall.SIGHUP) // it may have ended
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
		where.empty(t)
	})
	t.Run("exec", func(t *testing.T) {
		where := newPlaces(t)
		e := startExec(t, where.env(), binary(t), "exec", "--", "sh", "-c", "echo ready; exec sleep 60")
		where.written(t)
		require.NoError(t, e.cmd.Process.Signal(syscall.SIGHUP))
		_, status := e.rest(t)
		assert.Equal(t, 128+1, status)
		where.empty(t)
	})
}

func TestAClosedOutputLeavesNoFileBehind(t *testing.T) {
	// unread is a pipe that nobody reads.
	unread := func() *os.File {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		t.Cleanup(func() { _ = w.Close() })
		return w
	}
	for name, c := range map[string]struct {
		args   []string
		out    bool // stdout is closed, else stderr
		status int
	}{
		"server":              {nil, true, 1},
		"exec, stdout":        {[]string{"exec", "--", "sh", "-c", "exit 7"}, true, 7},
		"exec, stderr":        {[]string{"exec", "--", "sh", "-c", "exit 7"}, false, 7},
		"exec, its command's": {[]string{"exec", "--", "sh", "-c", "kill -PIPE $$"}, true, 128 + 13},
	} {
		t.Run(name, func(t *testing.T) {
			where := newPlaces(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary(t), c.args...)
			cmd.Env = append(os.Environ(), where.env()...)
			if c.out {
				cmd.Stdout = unread()
			} else {
				cmd.Stderr = unread()
			}
			_ = cmd.Run()
			assert.Equal(t, c.status, cmd.ProcessState.ExitCode())
			where.empty(t)
		})
	}
}

// A shell ends its loop when what it ran has died of SIGINT, and not when that ended with 130.
func TestExecDiesOfSIGINTAsItsCommand(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		signal  syscall.Signal // to exec
		status  string
	}{
		"Ctrl-C":                         {"echo ready; exec sleep 60", syscall.SIGINT, "signal: interrupt"},
		"of itself":                      {"echo ready; kill -INT $$", 0, "signal: interrupt"},
		"a command that ends in its way": {`trap "exit 130" INT; echo ready; while :; do sleep 60 >/dev/null 2>&1 & wait $!; done`, syscall.SIGINT, "exit status 130"},
		"another signal":                 {"echo ready; exec sleep 60", syscall.SIGTERM, "exit status 143"},
	} {
		t.Run(name, func(t *testing.T) {
			where := newPlaces(t)
			e := startExec(t, where.env(), binary(t), "exec", "--", "sh", "-c", c.command)
			if c.signal != 0 {
				require.NoError(t, e.cmd.Process.Signal(c.signal))
			}
			_, _ = e.rest(t)
			assert.Equal(t, c.status, e.cmd.ProcessState.String())
			assert.Contains(t, e.stderr.String(), "llamadas: 0,", "it has reported")
			where.empty(t)
		})
	}
}
