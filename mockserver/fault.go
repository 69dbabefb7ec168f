package mockserver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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

// faults are those of one server. The calls read a list that is never written, nil where there is none.
type faults struct {
	active atomic.Pointer[[]*ActiveFault]
	mu     sync.Mutex
	all    []*ActiveFault
	made   int
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

func (fs *faults) add(f *ActiveFault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.fault.Name == "" {
		fs.made++
		kind := "fault"
		if preset := f.fault.Steps[0].Preset; preset != "" {
			kind = string(preset)
		}
		f.fault.Name = fmt.Sprintf("%s-%d", kind, fs.made)
	}
	same := func(old *ActiveFault) bool {
		return old.fault.Name == f.fault.Name && old.fault.Match.Key == f.fault.Match.Key
	}
	if i := slices.IndexFunc(fs.all, same); i >= 0 {
		fs.all[i].Release()
		fs.all[i] = f
	} else {
		fs.all = append(fs.all, f)
	}
	fs.publish()
}

// publish makes the list that calls read: it is nil again when no fault can meet a call.
func (fs *faults) publish() {
	var list []*ActiveFault
	for _, f := range fs.all {
		if f.mu.Lock(); !f.over {
			list = append(list, f)
		}
		f.mu.Unlock()
	}
	if list == nil {
		fs.active.Store(nil)
		return
	}
	fs.active.Store(&list)
}

func (fs *faults) remove(which func(*ActiveFault) bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(f *ActiveFault) bool {
		if !which(f) {
			return false
		}
		f.Release()
		return true
	})
	fs.publish()
}

// take returns the fault that meets a call, and the effect. Every fault counts the call, whoever meets it.
func (fs *faults) take(c *call) (met *ActiveFault, e Effect) {
	list := fs.active.Load()
	if list == nil {
		return nil, e
	}
	ended := false
	for _, f := range *list {
		if !f.fault.Match.covers(c) || !f.until.IsZero() && !c.now.Before(f.until) {
			continue
		}
		if effect, due, over := f.count(met == nil); due {
			met, e, ended = f, effect, over
		}
	}
	if ended {
		fs.mu.Lock()
		fs.publish()
		fs.mu.Unlock()
	}
	return met, e
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

// Name is how the journal and [Server.Faults] call the fault.
func (f *ActiveFault) Name() string { return f.fault.Name }

// Hits returns how many calls the fault has met.
func (f *ActiveFault) Hits() int { return f.Status().Hits }

// Status returns the fault with what it has done.
func (f *ActiveFault) Status() FaultStatus {
	now := f.server.clock.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultStatus{f.fault, f.seen, f.hits, !f.over && (f.until.IsZero() || now.Before(f.until))}
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
func (f *ActiveFault) Remove() { f.server.faults.remove(func(g *ActiveFault) bool { return g == f }) }

// Faults returns the faults that were set and not removed, those that have ended too, in the order in
// which they are asked.
func (s *Server) Faults() []FaultStatus {
	s.faults.mu.Lock()
	all := slices.Clone(s.faults.all)
	s.faults.mu.Unlock()
	status := make([]FaultStatus, len(all))
	for i, f := range all {
		status[i] = f.Status()
	}
	return status
}

// FindFault returns the first fault with a name, or nil.
func (s *Server) FindFault(name string) *ActiveFault { return s.faults.find("", name) }

// find returns the fault of a key, or of any, with a name.
func (fs *faults) find(key, name string) *ActiveFault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.all {
		if f.fault.Name == name && (key == "" || key == f.fault.Match.Key) {
			return f
		}
	}
	return nil
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.faults.remove(func(*ActiveFault) bool { return true }) }
