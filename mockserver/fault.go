package mockserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Fault is a failure and the calls that it meets.
type Fault struct {
	Name  string   `json:"name,omitempty"` // shown in the journal; "" for the first step's preset
	Match Match    `json:"match,omitzero"`
	Steps []Effect `json:"steps"` // for the first call that matches, the second, ...; a single step is for each call
}

// FaultStatus is a fault with its counts.
type FaultStatus struct {
	Fault
	Seen   int  `json:"seen"`   // matching calls that it can act on, until it ended
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

	deciding sync.Mutex // held while deciding whether it meets a call
	mu       sync.Mutex
	waits    *rand.Rand // draws the latencies of the calls that it meets
	seen     int
	hits     int
	over     bool          // it meets no more calls
	released chan struct{} // closed by Release
	let      bool          // released is closed
}

// newFault returns a fault that is not set yet, or the reason why it is invalid.
func (s *Server) newFault(f Fault) (*ActiveFault, error) {
	if err := f.Match.check(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, errors.New("la falla no tiene steps: dé un preset o un efecto")
	}
	active := &ActiveFault{server: s, released: make(chan struct{}), waits: rand.New(rand.NewPCG(0, 1))} //nolint:gosec // repeatable
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

// Name returns the fault's name in the journal and in [Server.Faults].
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

// possible reports whether any call can meet the next step.
func (f *ActiveFault) possible() bool {
	m, assume := &f.fault.Match, f.server.assume.Load()
	return (m.Key == "" || f.server.keys.account(m.Key) != nil) &&
		slices.ContainsFunc(Operations(), func(op Operation) bool {
			hasRUC := op == OpConsultar || op == OpValidar
			return (m.Op == "" || m.Op == op) && (m.RUC == "" || hasRUC) && f.step().canTouch(op, assume)
		})
}

// step returns the action for the next call. The lock is held.
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

// count counts a call. It returns the effect if the fault is due, acts on the call, and no other fault met the call (free).
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

// end ends the fault.
func (f *ActiveFault) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

// ended reports whether the fault has ended.
func (f *ActiveFault) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}
