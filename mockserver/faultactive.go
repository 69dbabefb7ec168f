package mockserver

import (
	"slices"
)

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
