package mockserver

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// faults are the faults of one server, in the order in which they were set.
type faults struct {
	mu   sync.RWMutex
	all  []*ActiveFault // without removed ones
	made int            // counter for default names
}

// add sets a fault. It replaces one with the same name and key.
func (fs *faults) add(f *ActiveFault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.remove = func() { fs.remove(func(g *ActiveFault) bool { return g == f }) }
	if f.fault.Name == "" {
		fs.made++
		f.fault.Name = fmt.Sprintf("%s-%d", cmp.Or(string(f.fault.Steps[0].Preset), "fault"), fs.made)
	}
	same := func(old *ActiveFault) bool {
		return old.fault.Name == f.fault.Name && old.fault.Match.Key == f.fault.Match.Key
	}
	if i := slices.IndexFunc(fs.all, same); i >= 0 {
		fs.all[i].end()
		fs.all[i].Release()
		fs.all[i] = f
		return
	}
	fs.all = append(fs.all, f)
}

// remove removes the faults for which which returns true, and releases the calls that they hold.
func (fs *faults) remove(which func(*ActiveFault) bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(f *ActiveFault) bool {
		if !which(f) {
			return false
		}
		f.end()
		f.Release()
		return true
	})
}

func (fs *faults) clear() { fs.remove(func(*ActiveFault) bool { return true }) }

// removeOf removes the faults of a key.
func (fs *faults) removeOf(key string) {
	fs.remove(func(f *ActiveFault) bool { return f.fault.Match.Key == key })
}

// list returns all faults, including ended ones.
func (fs *faults) list() []*ActiveFault {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	return slices.Clone(fs.all)
}

// find returns the first fault with a name and key ("" for any key), or nil.
func (fs *faults) find(key, name string) *ActiveFault {
	for _, f := range fs.list() {
		if f.fault.Name == name && (key == "" || key == f.fault.Match.Key) {
			return f
		}
	}
	return nil
}

// match returns the fault that meets a call, and the effect. Every fault counts the call, even if another one meets it.
func (fs *faults) match(c *call) (met *ActiveFault, a action) {
	for _, f := range fs.list() {
		switch {
		case f.ended():
		case !f.lasts(c.now):
			f.end()
		case f.fault.Match.covers(c):
			if next, due := f.count(c, met == nil); due {
				met, a = f, next
			}
		}
	}
	return met, a
}

// Fault sets a fault: the calls that match m get its steps in turn, or a single step each. The first fault that is due and
// changes the answer meets a call. An invalid fault ends the test of [New]; after [Start], it panics.
func (s *Server) Fault(m Match, steps ...Step) *ActiveFault {
	s.t.Helper()
	f := Fault{Match: m}
	for _, step := range steps {
		f.Steps = append(f.Steps, step.effect())
	}
	active, err := s.AddFault(f)
	if err != nil {
		s.t.Fatalf("mockserver: Fault: %v", err)
	}
	return active
}

// AddFault sets a fault, and replaces the one of the same name and key.
func (s *Server) AddFault(f Fault) (*ActiveFault, error) {
	active, err := s.newFault(f)
	if err != nil {
		return nil, err
	}
	s.faults.add(active)
	return active, nil
}

// Faults returns the faults in order, ended ones too, but not removed ones.
func (s *Server) Faults() []FaultStatus {
	all := s.faults.list()
	status := make([]FaultStatus, len(all))
	for i, f := range all {
		status[i] = f.Status()
	}
	return status
}

// FindFault returns the first fault with a name, or nil.
func (s *Server) FindFault(name string) *ActiveFault { return s.faults.find("", name) }

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.faults.clear() }
