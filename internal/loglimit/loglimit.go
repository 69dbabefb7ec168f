// Package loglimit keeps an outage from filling a log.
package loglimit

import (
	"sync"
	"time"
)

// Outage is a failure that repeats itself. It is logged when it begins, once a minute, and when it ends. If it comes
// and goes, it begins at most once a minute.
type Outage struct {
	mu    sync.Mutex
	open  bool      // it began, and its end is not logged yet
	began time.Time // ... at that time
	next  time.Time // of the next line
	calls int       // that failed since the last line
}

// Count counts a call that failed.
func (o *Outage) Count() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
}

// Log reports whether to log a failure, and how many calls failed since the last line. Without repeat only the beginning
// is logged.
func (o *Outage) Log(repeat bool) (calls int, logged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if now.Before(o.next) || o.open && !repeat {
		return 0, false
	}
	if !o.open {
		o.open, o.began = true, now
	}
	calls, o.calls, o.next = o.calls, 0, now.Add(time.Minute)
	return calls, true
}

// End reports whether to log the end, how many calls failed since the last line, and how long it lasted.
func (o *Outage) End() (calls int, lasted time.Duration, logged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.open {
		return 0, 0, false
	}
	calls, o.calls, o.open = o.calls, 0, false
	return calls, time.Since(o.began), true
}
