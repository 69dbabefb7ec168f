// Package loglimit keeps one repeated refusal from filling a log.
package loglimit

import (
	"sync"
	"time"
)

// Repetition is a repeated refusal. It is logged when it begins, once a minute with a count, and when it ends. If it
// comes and goes, it is logged at most once a minute.
type Repetition struct {
	mu      sync.Mutex
	open    bool      // it began, and its end is not logged yet
	next    time.Time // of the next line
	omitted int       // refusals not logged since the last line
}

// logEvery is the pause between two lines of a refusal.
const logEvery = time.Minute

// Again reports whether to log a refusal, and how many were omitted since the last line.
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

// Begin reports whether to log a refusal that is logged only when it begins and when it ends.
func (r *Repetition) Begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.open || now.Before(r.next) {
		return false
	}
	r.open, r.next = true, now.Add(logEvery)
	return true
}

// End reports whether the refusals ended, and how many were omitted since the last line.
func (r *Repetition) End() (omitted int, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended = r.open; ended {
		omitted, r.omitted, r.open = r.omitted, 0, false
	}
	return omitted, ended
}
