package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Step is the progress of a long command.
type Step struct {
	What string
	Done float64 // 0 to 1; below 0 if unknown
	Rows int64
}

// Progress shows a long command's progress: a bar on a terminal; elsewhere, as in a log, a line every few seconds.
type Progress struct {
	name     string // the program's name
	out      io.Writer
	terminal bool
	every    time.Duration

	mu   sync.Mutex
	what string    // last shown ...
	last time.Time // ... and when
}

// ShowProgress shows a program's progress on out until Stop.
func ShowProgress(name string, out io.Writer) *Progress {
	p := &Progress{name: name, out: out, terminal: Is(out), every: 5 * time.Second, last: time.Now()}
	if p.terminal {
		p.every = 200 * time.Millisecond
	}
	return p
}

// Report reports the progress. Most calls cost next to nothing. On a terminal, a changed What is shown at once.
func (p *Progress) Report(s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < p.every && (!p.terminal || s.What == p.what) {
		return
	}
	p.what, p.last = s.What, time.Now()
	text := s.What
	if s.Done >= 0 {
		text = fmt.Sprintf("%3.0f%%  %s", 100*s.Done, text)
	}
	if s.Rows > 0 {
		text += "  " + Rows(int(s.Rows))
	}
	if !p.terminal {
		_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.name, text)
		return
	}
	const length = 20
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K[%-*s] %s", length, strings.Repeat("=", int(max(0, s.Done)*length)), text)
}

// Say prints a line above the progress.
func (p *Progress) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Stop()
	_, _ = fmt.Fprintln(p.out, line)
}

// Stop clears the terminal's line.
func (p *Progress) Stop() {
	if p.terminal {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// Rows formats 1 as "1 fila", and 5000 as "5 000 filas".
func Rows(n int) string {
	if n == 1 {
		return "1 fila"
	}
	return Thousands(n) + " filas"
}

// Thousands formats 5000 as "5 000".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
