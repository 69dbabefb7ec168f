package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var built struct {
	once sync.Once
	dir  string
	name string
	out  []byte
	err  error
}

func TestMain(m *testing.M) {
	if os.Getenv("TELL_SIGNALS") != "" { // this binary, as the command of a test
		tellSignals()
	}
	if signal.Ignored(syscall.SIGHUP) { // by nohup: what is started would ignore it too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// An address of the machine is no loopback, for which net/http would ask a proxy of the environment.
	http.DefaultTransport.(*http.Transport).Proxy = nil
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(status)
	}))
}

// tellSignals writes a line for each signal that comes, as no shell does that gets two at once, and ends
// with 9 at SIGQUIT.
func tellSignals() {
	came := make(chan os.Signal, 64)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	fmt.Println("ready")
	for s := range came {
		if fmt.Println(s); s == syscall.SIGQUIT {
			os.Exit(9)
		}
	}
}

// binary builds the program, once for all tests, and returns its path.
func binary(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a binary")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "fiscope-mock-test-"); built.err != nil {
			return
		}
		built.name = filepath.Join(built.dir, "fiscope-mock")
		built.out, built.err = exec.Command("go", "build", "-o", built.name, ".").CombinedOutput()
	})
	require.NoError(t, built.err, "%s", built.out)
	return built.name
}

// program is the built program, serving.
type program struct {
	cmd    *exec.Cmd
	url    string
	lines  *bufio.Scanner
	stderr *buffer
}

// startProgram runs the built program with variables and flags, until it has written its first line. It is
// killed with the test, if it still runs.
func startProgram(t *testing.T, env []string, args ...string) program {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	p := program{cmd: exec.CommandContext(ctx, binary(t), args...), stderr: new(buffer)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = p.cmd.Wait() // waited for already, or killed
	})
	p.lines = bufio.NewScanner(stdout)
	require.True(t, p.lines.Scan(), "the first line")
	p.url = p.lines.Text()
	return p
}
