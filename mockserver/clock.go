package mockserver

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the one time of a server: "today" in Lima, the publication of a rate, the quota's reset, the
// end of a SOL block, the life of a fault, the journal and the Date header all read it. Only waits (a
// latency, a slow body) pass real time.
type clock struct {
	source func() time.Time
	mu     sync.Mutex
	moved  atomic.Pointer[shift] // nil: as the source says
	shown  atomic.Pointer[date]  // the last Date header
}

// shift is how a clock differs from its source.
type shift struct {
	offset time.Duration // while it runs
	frozen bool
	at     time.Time // while it is frozen
}

func (c *clock) now() time.Time {
	switch m := c.moved.Load(); {
	case m == nil:
		return c.source()
	case m.frozen:
		return m.at
	default:
		return c.source().Add(m.offset)
	}
}

// date is t as the Date header writes it, made once a second and never written.
func (c *clock) date(t time.Time) []string {
	d := c.shown.Load()
	if d == nil || d.second != t.Unix() {
		d = &date{t.Unix(), []string{t.UTC().Format(http.TimeFormat)}}
		c.shown.Store(d)
	}
	return d.text
}

type date struct {
	second int64
	text   []string
}

// change sets the clock to what f makes of the present time, running or frozen.
func (c *clock) change(f func(now time.Time, frozen bool) (time.Time, bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.moved.Load()
	at, frozen := f(c.now(), m != nil && m.frozen)
	c.moved.Store(&shift{offset: at.Sub(c.source()), frozen: frozen, at: at})
}

// start sets the clock as it was when the server started: where at says, unless that is zero.
func (c *clock) start(at time.Time, frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.IsZero() && !frozen {
		c.moved.Store(nil)
		return
	}
	if at.IsZero() {
		at = c.source()
	}
	c.moved.Store(&shift{offset: at.Sub(c.source()), frozen: frozen, at: at})
}

// Now returns the server's time.
func (s *Server) Now() time.Time { return s.clock.now() }

// SetNow sets the server's clock to t, forward or back. A running clock runs on from there, a frozen one
// stays there.
func (s *Server) SetNow(t time.Time) {
	s.clock.change(func(_ time.Time, frozen bool) (time.Time, bool) { return t, frozen })
}

// Advance moves the server's clock by d, running or frozen; a negative d moves it back. What became due
// (a rate's publication, a new quota, the end of a block or of a fault) has happened when it returns.
func (s *Server) Advance(d time.Duration) {
	s.clock.change(func(now time.Time, frozen bool) (time.Time, bool) { return now.Add(d), frozen })
}

// Freeze stops the server's clock where it stands.
func (s *Server) Freeze() {
	s.clock.change(func(now time.Time, _ bool) (time.Time, bool) { return now, true })
}

// Resume lets a frozen clock run on from where it stands.
func (s *Server) Resume() {
	s.clock.change(func(now time.Time, _ bool) (time.Time, bool) { return now, false })
}

// Frozen reports whether the server's clock was stopped with [Server.Freeze] or [WithFrozenClock].
func (s *Server) Frozen() bool {
	m := s.clock.moved.Load()
	return m != nil && m.frozen
}
