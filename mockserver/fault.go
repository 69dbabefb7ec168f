package mockserver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Fault is what goes wrong, and with which calls. Its JSON is that of the program's faults.
type Fault struct {
	Name  string `json:"name,omitempty"` // shown in the journal; made from the first step's preset when ""
	Match Match  `json:"match,omitzero"`
	// Steps is what happens to the first call that matches, the second one, ...: with one step, to each.
	Steps []Effect `json:"steps"`
}

// ActiveFault is a fault that was set on a server. Its methods are safe for concurrent use.
type ActiveFault struct {
	fault  Fault
	steps  []Effect // resolved
	until  time.Time
	server *Server

	mu       sync.Mutex
	draws    *rand.Rand
	seen     int
	hits     int
	over     bool
	released chan struct{}
	let      bool
}

// FaultStatus is a fault with what it has done.
type FaultStatus struct {
	Fault
	Seen   int  `json:"seen"`   // calls that its operation, key, RUC and User-Agent let through, until it ended
	Hits   int  `json:"hits"`   // calls that it met
	Active bool `json:"active"` // whether it can meet another one now
}

// Fault sets a fault: the steps happen to the calls that m matches, in turn, or the one step to each.
// The faults are asked in the order in which they were set, and the first one that is due meets the call.
// A fault that cannot be ends the test of [New]; after [Start], it panics: see [Server.AddFault].
//
//	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK) // 500, then 200
func (s *Server) Fault(m Match, steps ...Step) *ActiveFault {
	f := Fault{Match: m}
	for _, step := range steps {
		f.Steps = append(f.Steps, step.effect())
	}
	active, err := s.AddFault(f)
	if err != nil {
		if s.t == nil {
			panic(fmt.Sprintf("mockserver: Fault: %v", err))
		}
		s.t.Helper()
		s.t.Fatalf("mockserver: Fault: %v", err)
	}
	return active
}

// AddFault sets a fault, in place of the one with the same name and key.
func (s *Server) AddFault(f Fault) (*ActiveFault, error) {
	if err := f.Match.check(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, errors.New("a fault without steps: give a preset or an effect")
	}
	active := &ActiveFault{server: s, released: make(chan struct{}), draws: f.Match.draws()}
	for i, step := range f.Steps {
		e := step.resolved()
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		active.steps = append(active.steps, e)
	}
	if f.Match.Times == 0 && len(f.Steps) > 1 {
		f.Match.Times = len(f.Steps)
	}
	if f.Match.For > 0 {
		active.until = s.clock.now().Add(f.Match.For)
	}
	active.fault = f
	s.faults.add(active)
	return active, nil
}

// count takes note of a call, and returns the effect if it is due and the call is free.
func (f *ActiveFault) count(free bool) (e Effect, due, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &f.fault.Match
	f.seen++
	due = m.Nth == 0 || m.Nth == f.seen
	if m.Probability > 0 {
		due = f.draws.Float64() < m.Probability && due // always drawn: what others meet changes nothing
	}
	if !free || !due || f.over {
		return e, false, false
	}
	e = f.steps[f.hits%len(f.steps)]
	if e.Sigma > 0 {
		const longest = 10 * time.Minute
		drawn := float64(e.Latency) * math.Exp(e.Sigma*f.draws.NormFloat64())
		e.Latency = time.Duration(min(drawn, float64(longest)))
	}
	f.hits++
	f.over = m.Times > 0 && f.hits >= m.Times || m.Nth > 0
	return e, true, f.over
}
