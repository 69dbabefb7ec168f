// Package repetition keeps a log from filling with one refusal.
package repetition

import (
	"sync"
	"time"
)

// Repetition is a refusal that comes again and again: it is logged when it begins, once a minute with a count, and when
// it ends. One that comes and goes is logged once a minute too.
type Repetition struct {
	mu      sync.Mutex
	open    bool      // it began, and no line said that it ended
	next    time.Time // of the next line
	omitted int       // lines since the last one
}

// logEvery is the pause between two lines of a refusal.
const logEvery = time.Minute

// Again reports whether a refusal is logged, and how many were not since the last line.
func (r *Repetition) Again() (omitted int, logged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Before(r.next) {
		r.omitted++
		return 0, false
	}
	omitted, r.omitted, r.open, r.next = r.omitted, 0, true, now.Add(logEvery)
	return omitted, true
}

// End reports whether the refusals ended, and how many were not logged since the last line.
func (r *Repetition) End() (omitted int, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended = r.open; ended {
		omitted, r.omitted, r.open = r.omitted, 0, false
	}
	return omitted, ended
}
