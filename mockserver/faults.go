package mockserver

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// faults are those of one server. The calls read a list that is never written, nil where there is none.
type faults struct {
	active atomic.Pointer[[]*ActiveFault]
	mu     sync.Mutex
	all    []*ActiveFault
	made   int
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
