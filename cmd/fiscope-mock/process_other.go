//go:build !linux && !darwin && !freebsd

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// unlessIgnored are the signals that are forwarded unless exec was started with them ignored.
var unlessIgnored = []os.Signal{syscall.SIGHUP}

// leave ends the program with its command's status, or with 128 and the number of the signal that ended padron.
func leave(status int) {
	if status < 0 {
		status = 128 - status
	}
	os.Exit(status)
}

// process is exec's command. Here it shares what exec's console sends.
type process struct{ cmd *exec.Cmd }

func startProcess(cmd *exec.Cmd) (*process, error) {
	return &process{cmd}, cmd.Start()
}

// send sends a signal to the command, where the system knows it.
func (p *process) send(sig os.Signal) { _ = p.cmd.Process.Signal(sig) }

// end ends the command, whatever the signal: the only one that every system knows is os.Kill.
func (p *process) end(syscall.Signal) { _ = p.cmd.Process.Kill() }

// wait returns the command's status once it has ended.
func (p *process) wait() (int, error) {
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return p.cmd.ProcessState.ExitCode(), nil
}
