package mockserver

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/clock"
)

// Fault is what goes wrong, and with which calls. Its JSON is that of the program's faults.
type Fault struct {
	Name  string `json:"name,omitempty"` // shown in the journal; made from the first step's preset when ""
	Match Match  `json:"match,omitzero"`
	// Steps is what happens to the first call that matches, the second one, ...: with one step, to each.
	Steps []Effect `json:"steps"`
}

// FaultStatus is a fault with what it has done.
type FaultStatus struct {
	Fault
	Seen   int  `json:"seen"`   // calls that its operation, key, RUC and User-Agent let through, until it ended
	Hits   int  `json:"hits"`   // calls that it met
	Active bool `json:"active"` // whether it can meet another one now: the server knows its key, its operation has a RUC
}

// ActiveFault is a fault that was set on a server. Its methods are safe for concurrent use.
type ActiveFault struct {
	fault  Fault
	steps  []Effect // resolved
	until  time.Time
	clock  *clock.Clock
	keys   *keyring
	remove func()

	holdMost time.Duration // see WithHoldLimit; 0 for none

	mu       sync.Mutex
	calls    *rand.Rand // draws which calls it meets
	waits    *rand.Rand // draws how long they wait
	seen     int
	hits     int
	over     bool          // it meets nothing more
	released chan struct{} // closed by Release
	let      bool          // it is closed
}

// newFault returns a fault that is not set yet, or the reason why it cannot be.
func newFault(f Fault, c *clock.Clock, keys *keyring) (*ActiveFault, error) {
	if err := f.Match.check(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, cannotTake("a fault without steps: give a preset or an effect", "la falla no tiene steps: dé un preset o un efecto")
	}
	active := &ActiveFault{clock: c, keys: keys, released: make(chan struct{}), calls: f.Match.draws(0), waits: f.Match.draws(1)}
	for i, step := range f.Steps {
		e := step.resolved()
		if err := e.check(); err != nil {
			return nil, cannotTake("step %d: %w", "paso %d: %s", i+1, err)
		}
		active.steps = append(active.steps, e)
	}
	if f.Match.Nth > 0 && len(f.Steps) > 1 {
		return nil, cannotTake("nth is one call: it cannot have several steps", "nth es una sola llamada: no puede tener varios steps")
	}
	if f.Match.Times == 0 && len(f.Steps) > 1 {
		f.Match.Times = len(f.Steps)
	}
	if f.Match.For > 0 {
		active.until = c.Now().Add(f.Match.For)
	}
	active.fault = f
	return active, nil
}

// Name is how the journal and [Server.Faults] call the fault.
func (f *ActiveFault) Name() string { return f.fault.Name }

// Hits returns how many calls the fault has met.
func (f *ActiveFault) Hits() int { return f.Status().Hits }

// Status returns the fault with what it has done.
func (f *ActiveFault) Status() FaultStatus {
	now := f.clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultStatus{f.fault, f.seen, f.hits, !f.over && f.lasts(now) && f.fault.Match.possible(f.keys)}
}

// Release lets go the calls that the fault keeps waiting, and those that come: [Hold] and a latency end at
// once, and what hangs is closed. A call that waits is let go too when its fault is removed, and is closed
// when its client leaves or the server closes.
func (f *ActiveFault) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.let {
		f.let = true
		close(f.released)
	}
}

// Remove ends the fault and lets go what it holds.
func (f *ActiveFault) Remove() { f.remove() }

// lasts reports whether the fault's time is not over.
func (f *ActiveFault) lasts(now time.Time) bool { return f.until.IsZero() || now.Before(f.until) }

// count takes note of a call, and returns the effect if it is the fault's turn and the call is free: met
// by no other fault. over reports whether the fault can meet nothing more.
func (f *ActiveFault) count(free bool) (e Effect, due, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return e, false, true
	}
	m := &f.fault.Match
	f.seen++
	due = m.Nth == 0 || m.Nth == f.seen
	if m.Probability > 0 {
		due = f.calls.Float64() < m.Probability && due // always drawn: what other faults meet changes nothing
	}
	if due = due && free; due {
		e = f.steps[f.hits%len(f.steps)]
		if e.Sigma > 0 {
			const longest = 10 * time.Minute
			drawn := float64(e.Latency) * math.Exp(e.Sigma*f.waits.NormFloat64())
			e.Latency = time.Duration(min(drawn, float64(longest)))
		}
		f.hits++
	}
	f.over = m.Times > 0 && f.hits >= m.Times || m.Nth > 0 && f.seen >= m.Nth
	return e, due, f.over
}

// end makes the fault meet nothing more.
func (f *ActiveFault) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

// ended reports whether the fault can meet nothing more.
func (f *ActiveFault) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}
