// Package breaker is a circuit breaker: it says when to skip a service that has failed.
package breaker

import (
	"sync"
	"time"
)

// Breaker opens after some consecutive failures and closes with the first success. The exported fields are set before
// the first call.
type Breaker struct {
	Failures int           // consecutive failures that open it
	Pause    time.Duration // before the first probe
	Longest  time.Duration // pauses double up to this

	mu      sync.Mutex
	failed  int
	probing bool // the answer to a probe is awaited
	pause   time.Duration
	next    time.Time // the next probe
}

// Open reports whether the breaker is open: skip the service.
func (b *Breaker) Open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed >= b.Failures
}

// Probe reports whether the caller may probe the service while the breaker is open: one caller in each pause.
func (b *Breaker) Probe() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Before(b.next) {
		return false
	}
	b.probing, b.next = true, now.Add(b.pause)
	return true
}

// Record records a success or a failure. While it is open, only the failure of a probe counts: many calls under way
// fail together.
func (b *Breaker) Record(success bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case success:
		b.failed = 0
	case b.failed < b.Failures:
		b.failed++
		b.pause = b.Pause
		b.next = time.Now().Add(b.pause)
	case b.probing:
		b.pause = min(2*b.pause, b.Longest)
		b.next = time.Now().Add(b.pause)
	}
	b.probing = false
}
