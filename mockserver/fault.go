package mockserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Fault is what goes wrong, and with which calls.
type Fault struct {
	Name  string   `json:"name,omitempty"` // shown in the journal; made from the first step's preset if ""
	Match Match    `json:"match,omitzero"`
	Steps []Effect `json:"steps"` // for the first call that matches, the second, ...; one step is for each call
}

// FaultStatus is a fault with its counts.
type FaultStatus struct {
	Fault
	Seen   int  `json:"seen"`   // calls that match and that it can act on, until it ended
	Hits   int  `json:"hits"`   // calls that it met
	Active bool `json:"active"` // whether it can meet another call
}

// ActiveFault is a fault set on a server. It is safe for concurrent use.
type ActiveFault struct {
	fault  Fault
	steps  []action
	until  time.Time
	server *Server
	remove func()

	deciding sync.Mutex // held while it is decided whether a call is met
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
func (s *Server) newFault(f Fault) (*ActiveFault, error) {
	if err := f.Match.check(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, errors.New("la falla no tiene steps: dé un preset o un efecto")
	}
	active := &ActiveFault{server: s, released: make(chan struct{}), calls: f.Match.draws(0), waits: f.Match.draws(1)}
	for i, step := range f.Steps {
		a, err := step.action()
		if err != nil {
			return nil, fmt.Errorf("paso %d: %w", i+1, err)
		}
		active.steps = append(active.steps, a)
	}
	if f.Match.Nth > 0 && len(f.Steps) > 1 {
		return nil, errors.New("nth es una sola llamada: no puede tener varios steps")
	}
	if f.Match.Times == 0 && len(f.Steps) > 1 {
		f.Match.Times = len(f.Steps)
	}
	if f.Match.For > 0 {
		active.until = s.Now().Add(f.Match.For)
	}
	active.fault = f
	return active, nil
}

// Name is the fault's name in the journal and in [Server.Faults].
func (f *ActiveFault) Name() string { return f.fault.Name }

// Hits returns how many calls the fault has met.
func (f *ActiveFault) Hits() int { return f.Status().Hits }

// Status returns the fault with its counts.
func (f *ActiveFault) Status() FaultStatus {
	now := f.server.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultStatus{f.fault, f.seen, f.hits, !f.over && f.lasts(now) && f.possible()}
}

// possible reports whether there can be a call that the next step acts on.
func (f *ActiveFault) possible() bool {
	m, assume := &f.fault.Match, f.server.assume.Load()
	return (m.Key == "" || f.server.keys.account(m.Key) != nil) &&
		slices.ContainsFunc(Operations(), func(op Operation) bool {
			hasRUC := op == OpConsultar || op == OpValidar
			return (m.Op == "" || m.Op == op) && (m.RUC == "" || hasRUC) && f.step().canTouch(op, assume)
		})
}

// step is what happens to the next call. It is called with the lock held.
func (f *ActiveFault) step() action { return f.steps[f.hits%len(f.steps)] }

// Release ends the waits, now and for later calls, and closes hung calls.
func (f *ActiveFault) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.let {
		f.let = true
		close(f.released)
	}
}

// Remove ends the fault and releases the calls that it holds.
func (f *ActiveFault) Remove() { f.remove() }

// lasts reports whether the fault's time is not over.
func (f *ActiveFault) lasts(now time.Time) bool { return f.until.IsZero() || now.Before(f.until) }

// count takes note of a call, and returns the effect if it is the fault's turn, it acts on the call, and the call is
// free: met by no other fault.
func (f *ActiveFault) count(c *call, free bool) (a action, due bool) {
	f.deciding.Lock()
	defer f.deciding.Unlock()
	f.mu.Lock()
	a = f.step()
	if f.over || !a.canTouch(c.op, c.assume) {
		defer f.mu.Unlock()
		return a, false
	}
	m := &f.fault.Match
	f.seen++
	due = m.Nth == 0 || m.Nth == f.seen
	if m.Probability > 0 {
		due = f.calls.Float64() < m.Probability && due // always drawn: what other faults meet changes nothing
	}
	f.mu.Unlock()
	due = due && free && a.touches(c) // without the lock: it may compute the answer
	f.mu.Lock()
	defer f.mu.Unlock()
	if due = due && !f.over; due {
		a = a.drawn(f.waits)
		f.hits++
	}
	f.over = f.over || m.Times > 0 && f.hits >= m.Times || m.Nth > 0 && f.seen >= m.Nth
	return a, due
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
