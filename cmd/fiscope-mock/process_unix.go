//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// unlessIgnored are the signals that are forwarded unless exec was started with them ignored.
var unlessIgnored = []os.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// leave ends the program as its command ended, or padron: with its status, or with 128 and the number of the signal, as a
// shell has it. Of SIGINT it dies itself: a shell tells by that to end a loop, and not to run its next command.
func leave(status int) {
	if status == -int(syscall.SIGINT) {
		if signal.Reset(syscall.SIGINT); !signal.Ignored(syscall.SIGINT) {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGINT)
			<-time.After(time.Second) // it comes meanwhile
		}
	}
	if status < 0 {
		status = 128 - status
	}
	os.Exit(status)
}

// process is exec's command, in a process group of its own: of a signal that exec gets, it cannot be told
// whether it was sent to exec alone or to its whole group. In one group with it the command would get some
// signals twice, at which test runners stop without cleaning up, and others not at all.
type process struct {
	pid int
	tty *terminal
}

// startProcess starts a command whose files are *os.File. It ends with this process (Linux).
func startProcess(cmd *exec.Cmd) (*process, error) {
	// The kernel ends the command with the thread that started it.
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithThread(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	p := &process{cmd.Process.Pid, openTerminal(cmd.Process.Pid)}
	if stdin, ok := cmd.Stdin.(*os.File); ok {
		p.tty.lend(stdin)
	}
	return p, nil
}

// send sends a signal to the command and to what it has started.
func (p *process) send(sig os.Signal) {
	_ = syscall.Kill(-p.pid, sig.(syscall.Signal)) // fails when all of it has just ended
}

// end ends what may be stopped.
func (p *process) end(sig syscall.Signal) {
	p.send(sig)
	p.send(syscall.SIGCONT)
}

// wait returns the command's status once it has ended, or minus the number of the signal that ended it.
func (p *process) wait() (int, error) {
	defer runtime.UnlockOSThread()
	defer p.tty.close()
	for {
		var status syscall.WaitStatus
		switch _, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case status.Stopped():
			p.tty.stopped(status.StopSignal())
		case status.Signaled():
			return -int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}
