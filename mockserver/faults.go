package mockserver

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// faults are those of one server, in the order in which they were set.
type faults struct {
	// What the calls read: the faults that have not ended, in a list that is never written; nil for none.
	active atomic.Pointer[[]*ActiveFault]
	mu     sync.Mutex
	all    []*ActiveFault // that were not removed
	made   int            // names that were made
}

// add sets a fault, in place of the one with the same name and key.
func (fs *faults) add(f *ActiveFault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.remove = func() { fs.remove(func(g *ActiveFault) bool { return g == f }) }
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
		fs.all[i].end()
		fs.all[i].Release()
		fs.all[i] = f
		fs.publish(slices.Clone(fs.all))
		return
	}
	fs.all = append(fs.all, f)
	fs.publish(append(fs.running(), f))
}

// running returns a copy of the list that calls read.
func (fs *faults) running() []*ActiveFault {
	if list := fs.active.Load(); list != nil {
		return slices.Clone(*list)
	}
	return nil
}

// publish makes the list that calls read from those of list that have not ended, so that one that has costs
// nothing. It must be called with the lock held, and with a list that nobody else has.
func (fs *faults) publish(list []*ActiveFault) {
	list = slices.DeleteFunc(list, (*ActiveFault).ended)
	if len(list) == 0 {
		fs.active.Store(nil)
		return
	}
	fs.active.Store(&list)
}

// remove ends the faults that which says, and lets go what they hold.
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
	fs.publish(fs.running())
}

func (fs *faults) clear() { fs.remove(func(*ActiveFault) bool { return true }) }

// removeOf removes the faults of a key.
func (fs *faults) removeOf(key string) {
	fs.remove(func(f *ActiveFault) bool { return f.fault.Match.Key == key })
}

// list returns all faults, those that have ended too.
func (fs *faults) list() []*ActiveFault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clone(fs.all)
}

// find returns the first fault with a name, of a key or of any for "", or nil.
func (fs *faults) find(key, name string) *ActiveFault {
	for _, f := range fs.list() {
		if f.fault.Name == name && (key == "" || key == f.fault.Match.Key) {
			return f
		}
	}
	return nil
}

// take returns the fault that meets a call, and the effect. Every fault counts the call, whoever meets it.
func (fs *faults) take(c *call) (met *ActiveFault, e Effect) {
	list := fs.active.Load()
	if list == nil {
		return nil, e
	}
	ended := false
	for _, f := range *list {
		if !f.lasts(c.now) {
			f.end()
			ended = true
			continue
		}
		if !f.fault.Match.covers(c) {
			continue
		}
		effect, due, over := f.count(met == nil)
		if due {
			met, e = f, effect
		}
		ended = ended || over
	}
	if ended {
		fs.mu.Lock()
		fs.publish(fs.running())
		fs.mu.Unlock()
	}
	return met, e
}

// Fault sets a fault: the steps happen to the calls that m matches, in turn, or the one step to each.
// The faults are asked in the order in which they were set, and the first one that is due meets the call.
// A fault that cannot be ends the test of [New]; after [Start], it panics: see [Server.AddFault].
//
//	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK) // 500, then 200
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

// AddFault sets a fault, in place of the one with the same name and key.
func (s *Server) AddFault(f Fault) (*ActiveFault, error) {
	active, err := newFault(f, &s.clock, &s.keys)
	if err != nil {
		return nil, err
	}
	active.holdMost = s.config.holdMost
	s.faults.add(active)
	return active, nil
}

// Faults returns the faults that were set and not removed, by themselves or with their key, those that have ended too, in the order in
// which they are asked.
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
