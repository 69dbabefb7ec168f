package mockserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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
	fault Fault
	steps []action
	until time.Time
	of    *faults

	over     atomic.Bool        // it meets no more calls
	released <-chan struct{}    // closed by release
	release  context.CancelFunc // see Release

	mu    sync.Mutex
	waits *rand.Rand // draws the latencies of the calls that it meets
	seen  int
	hits  int
}

// Format implements [fmt.Formatter], with the key's fingerprint.
func (f *ActiveFault) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "%+v", f.Status()) }

// newFault returns a fault that is not set yet, or the reason why it is invalid.
func (fs *faults) newFault(f Fault) (*ActiveFault, error) {
	if err := f.Match.check(); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, errors.New("la falla no tiene steps: dé un preset o un efecto")
	}
	held, release := context.WithCancel(context.Background())
	active := &ActiveFault{of: fs, released: held.Done(), release: release, waits: rand.New(rand.NewPCG(0, 1))}
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
		active.until = fs.server.Now().Add(f.Match.For)
	}
	active.fault = f
	return active, nil
}

// Status returns the fault with its counts.
func (f *ActiveFault) Status() FaultStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultStatus{f.fault, f.seen, f.hits, f.lasts(f.of.server.Now()) && f.possible()}
}

// possible reports whether any call can meet the next step.
func (f *ActiveFault) possible() bool {
	m, assume := &f.fault.Match, f.of.server.assume.Load()
	return (m.Key == "" || f.of.server.keys.account(m.Key) != nil) &&
		slices.ContainsFunc(operations, func(op Operation) bool {
			hasRUC := op == OpConsultar || op == OpValidar
			return (m.Op == "" || m.Op == op) && (m.RUC == "" || hasRUC) && f.step().canTouch(op, assume)
		})
}

// step returns the action for the next call. The lock is held.
func (f *ActiveFault) step() action { return f.steps[f.hits%len(f.steps)] }

// Release ends the waits, now and for later calls, and closes hung calls.
func (f *ActiveFault) Release() { f.release() }

// Remove ends the fault and releases the calls that it holds.
func (f *ActiveFault) Remove() { f.of.remove(func(g *ActiveFault) bool { return g == f }) }

// lasts reports whether the fault can meet another call.
func (f *ActiveFault) lasts(now time.Time) bool {
	return !f.over.Load() && (f.until.IsZero() || now.Before(f.until))
}

// count counts a call. It returns the effect if the fault is due, acts on the call, and no other fault met the call (free).
func (f *ActiveFault) count(c *call, free bool) (a action, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a = f.step()
	if f.over.Load() || !a.canTouch(c.op, c.assume) {
		return a, false
	}
	m := &f.fault.Match
	f.seen++
	if due = free && (m.Nth == 0 || m.Nth == f.seen) && touches(c, a); due {
		a = a.drawn(f.waits)
		f.hits++
	}
	if m.Times > 0 && f.hits >= m.Times || m.Nth > 0 && f.seen >= m.Nth {
		f.over.Store(true)
	}
	return a, due
}

// touches reports whether an action changes the answer to a call. It computes the answer if needed.
func touches(c *call, a action) bool {
	switch {
	case a.acts():
		return true
	case a.sunat && !c.answered && !c.data.sunatDown.Load() && isCPE(&c.request, c.assume):
		return true
	}
	own, header := c.answer(), c.w.Header().Clone()
	c.head(header, own)
	body, changed := a.rewrite(own.body, header.Clone())
	return !bytes.Equal(body, own.body) || !maps.EqualFunc(changed, header, slices.Equal)
}

// end ends the fault, and releases the calls that it holds.
func (f *ActiveFault) end() {
	f.over.Store(true)
	f.release()
}

// faults are the faults of one server, in the order in which they were set.
type faults struct {
	server *Server

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
		fs.all[i] = f
	} else {
		fs.all = append(fs.all, f)
	}
	return f, nil
}

// remove removes the faults for which which returns true, and releases the calls that they hold.
func (fs *faults) remove(which func(*ActiveFault) bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(f *ActiveFault) bool {
		gone := which(f)
		if gone {
			f.end()
		}
		return gone
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

// match returns the fault that meets a call, and the effect. Every fault counts the call, even if another one meets it.
func (fs *faults) match(c *call) (met *ActiveFault, a action) {
	for _, f := range fs.list() {
		switch {
		case !f.lasts(c.now):
			f.over.Store(true)
		case f.fault.Match.covers(&c.request, c.now):
			if next, due := f.count(c, met == nil); due {
				met, a = f, next
			}
		}
	}
	return met, a
}
