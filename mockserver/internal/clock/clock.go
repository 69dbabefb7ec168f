// Package clock is a clock that a test can set, move and stop, over a source that it never changes.
package clock

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is one clock, safe for concurrent use. It begins as its source runs. Reading it takes no lock:
// every request does.
type Clock struct {
	Source func() time.Time // called from many goroutines

	mu     sync.Mutex            // of changes
	moved  atomic.Pointer[shift] // nil: as the source says
	header atomic.Pointer[date]  // the last Date header
}

// shift is how a clock differs from its source.
type shift struct {
	offset time.Duration // while it runs
	frozen bool
	at     time.Time // while it is frozen
}

// date is one second as the Date header writes it.
type date struct {
	second int64
	text   []string
}

// Start sets the clock to at, or to the source's time when at is zero: running, or frozen there.
func (c *Clock) Start(at time.Time, frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.IsZero() && !frozen {
		c.moved.Store(nil)
		return
	}
	now := c.Source()
	if at.IsZero() {
		at = now
	}
	c.moved.Store(&shift{offset: at.Sub(now), frozen: frozen, at: at})
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	switch m := c.moved.Load(); {
	case m == nil:
		return c.Source()
	case m.frozen:
		return m.at
	default:
		return c.Source().Add(m.offset)
	}
}

// Frozen reports whether the clock stands still.
func (c *Clock) Frozen() bool {
	m := c.moved.Load()
	return m != nil && m.frozen
}

// Set sets the clock to t, forward or back. A running clock runs on from there, a frozen one stays there.
func (c *Clock) Set(t time.Time) {
	c.change(func(_ time.Time, frozen bool) (time.Time, bool) { return t, frozen })
}

// Advance moves the clock by d, running or frozen; a negative d moves it back.
func (c *Clock) Advance(d time.Duration) {
	c.change(func(now time.Time, frozen bool) (time.Time, bool) { return now.Add(d), frozen })
}

// Freeze stops the clock where it stands.
func (c *Clock) Freeze() {
	c.change(func(now time.Time, _ bool) (time.Time, bool) { return now, true })
}

// Resume lets the clock run on from where it stands.
func (c *Clock) Resume() {
	c.change(func(now time.Time, _ bool) (time.Time, bool) { return now, false })
}

// change sets the clock to what f makes of its time and of whether it is frozen.
func (c *Clock) change(f func(now time.Time, frozen bool) (time.Time, bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, frozen := f(c.Now(), c.Frozen())
	c.moved.Store(&shift{offset: at.Sub(c.Source()), frozen: frozen, at: at})
}

// DateHeader returns t as the values of a Date header. They are made once a second and shared by all
// answers: the caller must not write into them.
func (c *Clock) DateHeader(t time.Time) []string {
	d := c.header.Load()
	if d == nil || d.second != t.Unix() {
		d = &date{t.Unix(), []string{t.UTC().Format(http.TimeFormat)}}
		c.header.Store(d)
	}
	return d.text
}
