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
	"time"
)

// The statuses of exec that are not the command's, as those of env(1) and timeout(1).
const (
	execTimeout  = 124 // -timeout ended the command
	execFailed   = 125 // the mock server, not the command
	execNotRun   = 126 // the command is there and cannot be run
	execNotFound = 127
)

// killAfter is how long a command that -timeout ends has got to clean up.
const killAfter = 5 * time.Second

// execute runs a command with a mock server of its own, and returns the command's status: below 0 it is the
// signal that ended the command.
func execute(args, environ []string, stdin, stdout, stderr *os.File) int {
	// From here on a signal is the command's.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	for _, sig := range unlessIgnored { // as by nohup: for the command too
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
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
func (r *running) runCommand(path string, environ []string, signals <-chan os.Signal, stdin, stdout, stderr *os.File) (int, error) {
	environ, remove, err := r.commandEnv(environ)
	if err != nil {
		return 0, err
	}
	defer remove()
	// It ends when it ends: a context could only kill it.
	p, err := startProcess(&exec.Cmd{Path: path, Args: r.rest, Env: environ, Stdin: stdin, Stdout: stdout, Stderr: stderr})
	if err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	watched := make(chan bool)
	go func() { watched <- watch(p, signals, r.timeout, ended) }()
	status, err := p.wait()
	close(ended)
	if tooLong := <-watched; tooLong && err == nil {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: the command took longer than %s and was ended: see -timeout\n", r.timeout)
		return execTimeout, nil
	}
	return status, err
}

// watch forwards signals until the command has ended, and ends it when it takes too long; 0 is never.
func watch(p *process, signals <-chan os.Signal, timeout time.Duration, ended <-chan struct{}) (tooLong bool) {
	var late, veryLate <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	for {
		select {
		case sig := <-signals:
			p.send(sig)
		case <-late:
			tooLong, veryLate = true, time.After(killAfter)
			p.end(syscall.SIGTERM)
		case <-veryLate:
			p.end(syscall.SIGKILL)
		case <-ended:
			return tooLong
		}
	}
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
