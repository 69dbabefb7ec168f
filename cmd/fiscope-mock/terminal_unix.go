//go:build linux || darwin || freebsd

package main

import (
	"cmp"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"
)

// terminal is the one that controls exec and its command. Only one process group at a time may read from
// it, is sent Ctrl-C and Ctrl-Z, and is in the foreground: while exec is, its command shall be. A shell
// sees exec alone, so what stops the command stops exec too. A nil terminal, where there is none, does
// nothing.
type terminal struct {
	file     *os.File
	own, its int // process groups: exec's and its command's
}

func openTerminal(its int) *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	// Who is in the background and gives the terminal away would be stopped. Not before the command was
	// started, which would not be stopped either.
	signal.Ignore(syscall.SIGTTOU)
	return &terminal{file, syscall.Getpgrp(), its}
}

// lend gives the terminal to the command if exec has it and the command reads from it: in a pipe, Ctrl-C
// is for the pipe's other commands too.
func (t *terminal) lend(stdin *os.File) {
	if t != nil && foreground(stdin) == t.own {
		t.give(t.its)
	}
}

// stopped does what a shell would when the command is stopped, and returns when it runs again or is not
// to be continued here.
func (t *terminal) stopped(by syscall.Signal) {
	if t == nil {
		return
	}
	wanted := by == syscall.SIGTTIN || by == syscall.SIGTTOU // the terminal, from the background
	switch has := foreground(t.file); {
	case wanted && (has == t.own || has == t.its):
		t.give(t.its)
	case wanted || by == syscall.SIGTSTP || has == t.its:
		if has == t.its {
			t.give(t.own)
		}
		stopGroup()
		if foreground(t.file) == t.own {
			t.give(t.its)
		}
	default:
		return // who sent SIGSTOP to the command alone continues it
	}
	_ = syscall.Kill(-t.its, syscall.SIGCONT)
}

// stopGroup stops exec and its process group, as Ctrl-Z would, and returns when it is continued. A group
// that nobody would continue is not stopped, by rule of the system: hence the bounded wait.
func stopGroup() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(time.Second):
	}
}

func (t *terminal) close() {
	if t == nil {
		return
	}
	if foreground(t.file) == t.its {
		t.give(t.own)
	}
	_ = t.file.Close()
}

func (t *terminal) give(group int) {
	id := int32(group)                                        //nolint:gosec // a process group is a pid_t
	_ = ioctl(t.file, syscall.TIOCSPGRP, unsafe.Pointer(&id)) //nolint:gosec // see ioctl
}

// foreground returns the process group that a terminal is with, or 0 if it is not this process's terminal.
func foreground(tty *os.File) int {
	var id int32
	if ioctl(tty, syscall.TIOCGPGRP, unsafe.Pointer(&id)) != nil { //nolint:gosec // see ioctl
		return 0
	}
	return int(id)
}

// usualColumns are a terminal's that does not know its width.
const usualColumns = 80

// columns returns the width of a terminal, or 0 for what is none.
func columns(w io.Writer) int {
	file, ok := w.(*os.File)
	var size struct{ rows, columns, x, y uint16 }
	if !ok || ioctl(file, syscall.TIOCGWINSZ, unsafe.Pointer(&size)) != nil { //nolint:gosec // see ioctl
		return 0
	}
	return cmp.Or(int(size.columns), usualColumns) // a terminal may not know
}

// ioctl does what the standard library has no function for.
func ioctl(tty *os.File, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}
