package mockserver

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the server's time: today in Lima, the publication of a rate, the quota's reset, SOL blocks, the life of a
// fault, the journal and the Date header. Only waits (a latency, a slow body) take real time. It starts running with its
// source. Reading it takes no lock: every request does.
type clock struct {
	source func() time.Time // called by many goroutines

	mu    sync.Mutex                // for changes
	moved atomic.Pointer[shift]     // nil: the source's time
	date  atomic.Pointer[shownDate] // the last Date header
}

// shownDate is a second formatted for the Date header, shared by its answers.
type shownDate struct {
	second int64
	text   []string
}

func (c *clock) dateHeader(t time.Time) []string {
	d := c.date.Load()
	if d == nil || d.second != t.Unix() {
		d = &shownDate{t.Unix(), []string{t.UTC().Format(http.TimeFormat)}}
		c.date.Store(d)
	}
	return d.text
}

// shift is how a clock differs from its source. It is not a time.Duration, which ends at 292 years.
type shift struct {
	at     time.Time // its time ...
	source time.Time // ... when this was the source's time
	frozen bool      // it stays at at
}

// The range of the clock: HTTP dates and JSON times can show these even with a duration added.
var (
	firstTime = time.Unix(0, 0).UTC()
	lastTime  = time.Date(9000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// checkTime returns an error for a time outside the clock's range.
func checkTime(t time.Time) error {
	if t.Before(firstTime) || t.After(lastTime) {
		return fmt.Errorf("el reloj se puede poner a una hora desde %s hasta %s", firstTime.Format(time.RFC3339), lastTime.Format(time.RFC3339))
	}
	return nil
}

// start sets the clock to the valid time at, or to the source's if at is zero: running, or frozen there.
func (c *clock) start(at time.Time, frozen bool) {
	if c.moved.Store(nil); at.IsZero() && !frozen {
		return
	}
	_ = c.change(func(s *shift) {
		if !at.IsZero() {
			s.at = at
		}
		s.frozen = frozen
	})
}

func (c *clock) now() time.Time { return c.moved.Load().now(c.source()) }

// now returns the clock's time when its source has this time.
func (m *shift) now(source time.Time) time.Time {
	switch {
	case m == nil:
		return source
	case m.frozen:
		return m.at
	}
	return m.at.Add(source.Sub(m.source))
}

// change changes the clock from its present time on. It returns an error, and changes nothing, if the result is out of range.
func (c *clock) change(change func(*shift)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, source := c.moved.Load(), c.source()
	next := shift{m.now(source), source, m != nil && m.frozen}
	change(&next)
	if err := checkTime(next.at); err != nil {
		return err
	}
	c.moved.Store(&next)
	return nil
}
