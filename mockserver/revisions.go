package mockserver

import (
	"context"
	"slices"
	"sort"
)

// Change is what happened to the journal in one revision: a request was kept, or more became of it, or requests
// were forgotten.
type Change struct {
	Rev     int64    // 0 where a caller is to forget all since it comes from elsewhere; see Server.Changes
	Request *Request // as it is now; nil where requests were forgotten
	Key     string   // whose requests were forgotten, as a fingerprint; "" where all were
}

// Changes waits until something has happened to the journal after the revision since that f takes, and returns
// it in the order of the revisions, with the revision to go on from: what a caller that comes back with that one
// sees is complete, but for what the journal drops meanwhile ([WithJournal]). Of a request that changed several
// times it returns what became of it, in its last revision. It returns some hundred changes at most, and more at
// the next call. A since of 0 is the beginning. One that the journal has not reached, as after a restart, is the
// beginning too, with a first change that says to forget all.
//
// When ctx ends first, its cause is the error, and the revision is good to go on from. A caller that keeps a pause
// between its calls costs the server less: what happens meanwhile comes in one piece.
func (s *Server) Changes(ctx context.Context, since int64, f Filter) (changes []Change, rev int64, err error) {
	rev = since
	for {
		var changed <-chan struct{}
		changes, rev, changed = s.journal.after(rev, s.filter(f)) // again each time: the key may be known by now
		if len(changes) > 0 {
			return changes, rev, nil
		}
		if changed == nil { // there is more to look at
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, rev, context.Cause(ctx)
		}
	}
}

// Revision returns the number of the journal's last revision, 0 for none.
func (s *Server) Revision() int64 {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.revisions.last
}

// revisions tell in which order the entries of a journal changed, so that whoever follows it reads what is new
// and nothing else. The journal locks them.
type revisions struct {
	last    int64
	log     []revision  // in order: each entry's last one, and earlier ones that were not swept out yet
	marks   []forgotten // in order: when requests were forgotten
	unknown int64       // the last mark of those that were dropped from marks
}

// revision is a change of an entry, by its place.
type revision struct {
	rev  int64
	ring *ring
	slot int
}

// forgotten is a mark: from this revision on there was nothing left of a key, "" for all keys.
type forgotten struct {
	rev int64
	key string
}

const (
	marksMost    = 1000 // marks that are kept
	revisionsPer = 500  // revisions that are read at a time
)

// entry returns the entry of which this is the last revision, or nil.
func (r revision) entry() *entry {
	if r.slot < len(r.ring.entries) && r.ring.entries[r.slot].Rev == r.rev {
		return &r.ring.entries[r.slot]
	}
	return nil
}

// keep notes that an entry stands, or stands anew, in a slot of a ring.
func (r *revisions) keep(of *ring, slot int) {
	r.last++
	of.entries[slot].Rev = r.last
	if len(r.log) == cap(r.log) { // sweep, and grow where that leaves less than half free
		r.log = slices.DeleteFunc(r.log, func(r revision) bool { return r.entry() == nil })
		r.log = slices.Grow(r.log, len(r.log)+1)
	}
	r.log = append(r.log, revision{r.last, of, slot})
}

// forget notes that the entries of a key, or all for "", are gone.
func (r *revisions) forget(key string) {
	r.last++
	r.marks = slices.DeleteFunc(r.marks, func(m forgotten) bool { return key == "" || m.key == key })
	if len(r.marks) == marksMost {
		r.unknown = r.marks[0].rev
		r.marks = slices.Delete(r.marks, 0, 1)
	}
	r.marks = append(r.marks, forgotten{r.last, key})
}

// moved notes that the entries of a ring stand in other slots.
func (r *revisions) moved(of *ring) {
	for slot := range of.entries {
		i := sort.Search(len(r.log), func(i int) bool { return r.log[i].rev >= of.entries[slot].Rev })
		r.log[i].slot = slot
	}
}

// after returns the changes after a revision that f takes, as far as it has looked, and the revision up to which
// that is. Where there is nothing, and nothing more to look at, it returns what is closed at the next change too.
func (j *journal) after(since int64, f filter) (changes []Change, rev int64, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.revisions
	if since > r.last || since > 0 && since < r.unknown { // nobody knows any more what that caller is to forget: all
		since, changes = 0, []Change{{}}
	}
	log := r.log[sort.Search(len(r.log), func(i int) bool { return r.log[i].rev > since }):]
	rev = r.last
	if len(log) > revisionsPer {
		log = log[:revisionsPer]
		rev = log[revisionsPer-1].rev
	}
	marks := r.marks[sort.Search(len(r.marks), func(i int) bool { return r.marks[i].rev > since }):]
	if since == 0 { // who begins has nothing to forget
		marks = nil
	}
	tell := func(until int64) {
		for ; len(marks) > 0 && marks[0].rev <= until; marks = marks[1:] {
			if m := marks[0]; f.Key == "" || m.key == "" || m.key == f.Key {
				changes = append(changes, Change{Rev: m.rev, Key: m.key})
			}
		}
	}
	known := j.known.Load()
	for _, revision := range log {
		tell(revision.rev)
		e := revision.entry()
		if e == nil {
			continue
		}
		if e.hide(known); f.differs(e) == "" {
			shown := e.shown()
			changes = append(changes, Change{Rev: e.Rev, Request: &shown})
		}
	}
	tell(rev)
	if len(changes) == 0 && rev == r.last {
		changed = j.next()
	}
	return changes, rev, changed
}
