package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// The statuses of exec that are not the command's, as those of env(1) and timeout(1).
const (
	execFailed   = 125 // the mock server, not the command
	execNotRun   = 126 // the command is there and cannot be run
	execNotFound = 127
	execBySignal = 128 // and the signal's number

)

// execute runs a command with a mock server of its own, and returns the command's status.
func execute(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// From here on a signal is the command's.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	s := defaultSettings()
	s.addr, s.log = "127.0.0.1:0", logOff
	s, err := readSettings(s, args, func(name string) string { return lookupEnv(environ, name) })
	if err == nil && len(s.rest) == 0 {
		err = errors.New("exec wants a command: fiscope-mock exec [flags] -- COMMAND [ARGUMENT...]")
	}
	if err != nil {
		if usageError(err, stdout, stderr) == 0 { // -h
			return 0
		}
		return execFailed
	}
	path, err := exec.LookPath(s.rest[0])
	if err != nil {
		return notRun(err, stderr)
	}
	r, err := start(s, newLogger(s.log, stderr))
	if err != nil {
		startError(s, err, stderr)
		return execFailed
	}
	status, err := r.runCommand(path, environ, signals, stdin, stdout, stderr)
	report(stderr, r.mock)
	if closing := r.close(); err == nil && closing != nil {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: close: %v\n", closing)
	}
	if err != nil {
		return notRun(err, stderr)
	}
	return status
}

// notRun explains why there is no status of the command.
func notRun(err error, stderr io.Writer) int {
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return execNotFound
	}
	return execNotRun
}

// runCommand runs s.rest until it ends, forwarding signals to it.
func (r *running) runCommand(path string, environ []string, signals <-chan os.Signal, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	environ, remove, err := r.commandEnv(environ)
	if err != nil {
		return 0, err
	}
	defer remove()
	// It ends when it ends: a context could only kill it.
	cmd := &exec.Cmd{Path: path, Args: r.rest, Env: environ, Stdin: stdin, Stdout: stdout, Stderr: stderr}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	forwarded := make(chan struct{})
	go func() {
		defer close(forwarded)
		forward(cmd.Process, signals, ended)
	}()
	err = cmd.Wait()
	close(ended)
	<-forwarded
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return execBySignal + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// forward passes signals on. Ctrl-C it leaves to the terminal, which sends it to the command as well:
// twice would make many test runners stop without cleaning up.
func forward(p *os.Process, signals <-chan os.Signal, ended <-chan struct{}) {
	for {
		select {
		case sig := <-signals:
			if sig == syscall.SIGTERM || sig == syscall.SIGHUP || !hasTerminal() {
				_ = p.Signal(sig) // fails when it has just ended
			}
		case <-ended:
			return
		}
	}
}

func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

func lookupEnv(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}
