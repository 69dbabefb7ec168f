package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// step is how far a long command is.
type step struct {
	what     string  // "reading"
	from, to float64 // the part of all that it is, of 0 to 1; from 0, it begins to count anew
	done     float64 // of it, 0 to 1; below 0 where that is unknown, which the first step never is
	rows     int64
	bytes    int64 // of this step; 0 where none are counted
}

// How often progress is told.
const (
	redraw = 200 * time.Millisecond
	inLog  = 5 * time.Second
)

// progress shows how far a long command is: a bar on a terminal, and elsewhere, as in a log, a line every few seconds.
type progress struct {
	out  io.Writer
	end  chan struct{}
	gone sync.WaitGroup

	mu           sync.Mutex
	step         step
	began, since time.Time // all that is counted, and its step
	drawn        int       // what stands on the terminal's line
}

// showProgress begins to show progress on out, until stop.
func showProgress(out io.Writer) *progress {
	p := &progress{out: out, end: make(chan struct{})}
	every := inLog
	if columns(out) > 0 {
		every = redraw
	}
	p.gone.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				p.show(now)
			case <-p.end:
				return
			}
		}
	})
	return p
}

// tell says how far it is. It costs next to nothing.
func (p *progress) tell(s step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.step.what != s.what {
		if p.since = now; s.from == 0 {
			p.began = now
		}
	}
	p.step = s
}

// stop ends it, and leaves the terminal's line empty.
func (p *progress) stop() {
	close(p.end)
	p.gone.Wait()
	if p.drawn > 0 {
		_, _ = fmt.Fprintf(p.out, "\r%*s\r", p.drawn, "")
	}
}

func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() {
		return
	}
	width := columns(p.out)
	if width == 0 {
		_, _ = fmt.Fprintf(p.out, "fiscope-mock: %s\n", p.text(now))
		return
	}
	line := bar(p.done(now), p.text(now), width)
	_, _ = fmt.Fprintf(p.out, "\r%-*s", p.drawn, line)
	p.drawn = len(line)
}

// done is which part of all is done. Of a step that does not know, it is taken to be as fast as what was before it.
func (p *progress) done(now time.Time) float64 {
	part := p.step.done
	if part < 0 {
		all := max(p.since.Sub(p.began), time.Millisecond).Seconds() / p.step.from
		part = min(1, now.Sub(p.since).Seconds()/(all*(p.step.to-p.step.from)))
	}
	return p.step.from + part*(p.step.to-p.step.from)
}

// text says how far it is, in less than 60 characters.
func (p *progress) text(now time.Time) string {
	done, took := p.done(now), now.Sub(p.began)
	parts := []string{fmt.Sprintf("%3.0f%%", 100*done), p.step.what}
	if p.step.rows > 0 {
		parts = append(parts, fmt.Sprintf("%d rows", p.step.rows))
	}
	if of := now.Sub(p.since); p.step.bytes > 0 && of > 0 {
		parts = append(parts, fmt.Sprintf("%.0f MB/s", float64(p.step.bytes)/1e6/of.Seconds()))
	}
	if left := took.Seconds() * (1 - done) / done; done > 0 && took >= time.Second {
		parts = append(parts, fmt.Sprintf("%v left", time.Duration(left*float64(time.Second)).Round(time.Second)))
	}
	return strings.Join(parts, "  ")
}

// The bar's length on a terminal: none where there is no room for the least.
const (
	leastBar = 8
	mostBar  = 30
)

// bar is a line of progress that a terminal of that width does not break.
func bar(done float64, text string, width int) string {
	room := width - 1 // a full line would be broken by some
	if length := min(mostBar, room-len(text)-len("[] ")); length >= leastBar {
		full := int(done * float64(length))
		text = "[" + strings.Repeat("=", full) + strings.Repeat(" ", length-full) + "] " + text
	}
	return text[:max(0, min(len(text), room))]
}
