// Package clock is a clock that a test can set, move and stop, over a source that it never changes.
package clock

import (
	"fmt"
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

// shift is how a clock differs from its source. It is no duration between the two: that ends at 292 years.
type shift struct {
	at     time.Time // what it showed ...
	source time.Time // ... when its source showed this
	frozen bool      // it shows at
}

// First and Last are the earliest and the latest time that a clock can be set to. Beyond them no HTTP date
// and no JSON time could show what it then shows, at the latest with a duration added.
var (
	First = time.Unix(0, 0).UTC()
	Last  = time.Date(9000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// Check returns an error for a time that a clock cannot be set to.
func Check(t time.Time) error {
	if t.Before(First) || t.After(Last) {
		return fmt.Errorf("the clock can be set to a time from %s to %s", First.Format(time.RFC3339), Last.Format(time.RFC3339))
	}
	return nil
}

// date is one second as the Date header writes it.
type date struct {
	second int64
	text   []string
}

// Start sets the clock to at, which was checked, or to the source's time when at is zero: running, or frozen there.
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
	c.moved.Store(&shift{at, now, frozen})
}

// now returns what the clock shows when its source shows source.
func (m *shift) now(source time.Time) time.Time {
	switch {
	case m == nil:
		return source
	case m.frozen:
		return m.at
	}
	return m.at.Add(source.Sub(m.source))
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time { return c.moved.Load().now(c.Source()) }

// Frozen reports whether the clock stands still.
func (c *Clock) Frozen() bool {
	m := c.moved.Load()
	return m != nil && m.frozen
}

// Set sets the clock to t, forward or back. A running clock runs on from there, a frozen one stays there. A
// time that does not pass [Check] is refused, and nothing moves.
func (c *Clock) Set(t time.Time) error {
	return c.move(func(time.Time) time.Time { return t })
}

// Advance moves the clock by d, running or frozen; a negative d moves it back. It refuses what Set refuses.
func (c *Clock) Advance(d time.Duration) error {
	return c.move(func(now time.Time) time.Time { return now.Add(d) })
}

// move sets the clock to what to makes of its time.
func (c *Clock) move(to func(now time.Time) time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	source := c.Source()
	at := to(c.moved.Load().now(source))
	if err := Check(at); err != nil {
		return err
	}
	c.moved.Store(&shift{at, source, c.Frozen()})
	return nil
}

// Freeze stops the clock where it stands.
func (c *Clock) Freeze() { c.freeze(true) }

// Resume lets the clock run on from where it stands.
func (c *Clock) Resume() { c.freeze(false) }

func (c *Clock) freeze(frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	source := c.Source()
	c.moved.Store(&shift{c.moved.Load().now(source), source, frozen})
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
