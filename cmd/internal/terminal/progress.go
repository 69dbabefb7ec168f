package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Step is how far a long command is.
type Step struct {
	What string
	Done float64 // 0 to 1; 0 if unknown
	Rows int64
}

// Progress shows how far a long command is: a bar on a terminal, and elsewhere, as in a log, a line every few seconds.
type Progress struct {
	name     string // of the program
	out      io.Writer
	terminal bool
	every    time.Duration

	mu   sync.Mutex
	last time.Time // when it was shown
}

// ShowProgress begins to show the progress of a program on out, until Stop.
func ShowProgress(name string, out io.Writer) *Progress {
	p := &Progress{name: name, out: out, terminal: Is(out), every: 5 * time.Second, last: time.Now()}
	if p.terminal {
		p.every = 200 * time.Millisecond
	}
	return p
}

// Report shows how far it is. Most calls cost next to nothing.
func (p *Progress) Report(s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < p.every {
		return
	}
	p.last = time.Now()
	text := s.What
	if s.Done > 0 {
		text = fmt.Sprintf("%3.0f%%  %s", 100*s.Done, text)
	}
	if s.Rows > 0 {
		text += fmt.Sprintf("  %d filas", s.Rows)
	}
	if !p.terminal {
		_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.name, text)
		return
	}
	const length = 20
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K[%-*s] %s", length, strings.Repeat("=", int(s.Done*length)), text)
}

// Stop leaves the terminal's line empty.
func (p *Progress) Stop() {
	if p.terminal {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}
