package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screen is a terminal in which a script runs.
type screen struct {
	t    *testing.T
	keys *os.File
	text *buffer
	done chan error // of the script
}

// onTerminal runs a script of a shell with job control in a terminal of its own; $0 is the program.
func onTerminal(t *testing.T, script string) screen {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	var number, unlocked int32
	for request, into := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keys.Fd(), request, uintptr(unsafe.Pointer(into)))
		require.Zero(t, errno)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer tty.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, "sh", "-c", "set -m\n"+script, binary(t))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	s := screen{t, keys, new(buffer), make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			_, _ = s.text.Write(b[:n])
			if err != nil { // the last one has closed the terminal
				return
			}
		}
	}()
	go func() { s.done <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-read
		_ = keys.Close()
	})
	return s
}

// shows waits until a text has come on the screen, and returns its group, if it has one.
func (s screen) shows(pattern string) string {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	if !assert.Eventually(s.t, func() bool { return want.MatchString(s.text.String()) }, 20*time.Second, time.Millisecond) {
		require.FailNow(s.t, "not on the screen", "%s\n%q", pattern, s.text.String())
	}
	return want.FindStringSubmatch(s.text.String())[want.NumSubexp()]
}

func (s screen) typed(text string) {
	s.t.Helper()
	_, err := s.keys.WriteString(text)
	require.NoError(s.t, err)
}

func (s screen) ends() {
	s.t.Helper()
	assert.NoError(s.t, <-s.done, s.text.String())
}

// On a terminal an import shows one line, which is drawn again and gone in the end.
func TestImportHasABarOnATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "padron.zip") // to make a text of as many rows is done before the bar is drawn once
	s := onTerminal(t, `"$0" padron generate -rows 300000 `+file+`; "$0" padron import `+file+` >/dev/null; echo "status $?"`)
	s.shows("status 0")
	s.ends()
	text := s.text.String()
	assert.Regexp(t, `\r\x1b\[K\[=* *\] ( *\d+%  )?(leyendo|ordenando [a-z ]+)  [\d ]+ filas`, text)
	assert.Regexp(t, `\r\x1b\[Kstatus 0\r\n$`, text, "the line is empty again")
}

func TestTheCommandHasTheTerminal(t *testing.T) {
	for name, script := range map[string]string{
		"with the terminal": `"$0" exec -- "$tell"; echo "status $?"; read x; echo "then $x"`,
		"without its input": `sleep 60 | "$0" exec -- "$tell"; echo "status $?"; read x; echo "then $x"`,
	} {
		t.Run("Ctrl-C, "+name, func(t *testing.T) {
			t.Setenv("TELL_SIGNALS", "1")
			t.Setenv("tell", os.Args[0])
			s := onTerminal(t, script)
			s.shows("ready")
			s.typed("\x03")
			s.shows("interrupt\r")
			s.typed("\x1c") // Ctrl-\
			s.shows("status 9")
			assert.Equal(t, 1, strings.Count(s.text.String(), "interrupt\r"), "once")
			s.typed("otra\n")
			s.shows("then otra")
			s.ends()
		})
	}
	t.Run("it reads, stops and goes on", func(t *testing.T) {
		s := onTerminal(t, `"$0" exec -- sh -c 'read x; echo "one $x."; read x; echo "two $x."; read x; echo "three $x."'; echo "status $?"; fg; echo "status $?"; read x; echo "four $x."`)
		s.typed("uno\n")
		s.shows("one uno")
		s.typed("\x1a") // Ctrl-Z
		s.shows("status 14[0-9]")
		s.typed("dos\n")
		s.shows("two dos")
		s.typed("tres\n")
		s.shows("three tres")
		s.shows("status 0")
		s.typed("cuatro\n")
		s.shows("four cuatro")
		s.ends()
	})
}
