package mockserver

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// faults are the faults of one server, in the order in which they were set.
type faults struct {
	clock  *clock
	keys   *keyring
	assume *atomic.Pointer[Assumptions]

	mu   sync.RWMutex
	all  []*ActiveFault // without removed ones
	made int            // counter for default names
}

// add sets a valid fault. It replaces one with the same name and key.
func (fs *faults) add(fault Fault) (*ActiveFault, error) {
	f, err := fs.newFault(fault)
	if err != nil {
		return nil, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
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
		return f, nil
	}
	fs.all = append(fs.all, f)
	return f, nil
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

// clear removes the faults of a key, "" for all.
func (fs *faults) clear(key string) {
	fs.remove(func(f *ActiveFault) bool { return key == "" || f.fault.Match.Key == key })
}

// list returns all faults, including ended ones.
func (fs *faults) list() []*ActiveFault {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	return slices.Clone(fs.all)
}

// status returns the faults of a key, "" for all, ended ones too.
func (fs *faults) status(key string) (list []FaultStatus) {
	for _, f := range fs.list() {
		if key == "" || f.fault.Match.Key == key {
			list = append(list, f.Status())
		}
	}
	return list
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
		case f.fault.Match.covers(&c.request, c.now):
			if next, due := f.count(c, met == nil); due {
				met, a = f, next
			}
		}
	}
	return met, a
}
