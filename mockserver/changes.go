package mockserver

import (
	"context"
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
	r := s.journal.readFrom(since)
	for {
		changed := s.journal.readOn(&r, s.filter(f)) // again each time: a key may have become known
		switch {
		case changed == nil && (r.begins || len(r.changes) < changesMost):
			continue
		case len(r.changes) > 0:
			return r.changes, r.rev, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, r.rev, context.Cause(ctx)
		}
	}
}

// Revision returns the number of the journal's last revision, 0 for none.
func (s *Server) Revision() int64 {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.revisions.last
}

const (
	changesMost  = 1000 // changes after which a reader is given what there is
	revisionsPer = 100  // revisions that are read while no call can be recorded
)

// reading is how far somebody has read.
type reading struct {
	changes []Change
	rev     int64 // up to which all was looked at
	newest  int64 // of what was forgotten until then the reader has nothing
	begins  bool  // it has not come to where it could go on another time; see revisions.unknown
}

// readFrom returns where somebody goes on who has seen what there was up to a revision.
func (j *journal) readFrom(since int64) reading {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch r := &j.revisions; {
	case since == 0:
		return reading{newest: r.last}
	case since > r.last || since < r.unknown: // what they have is of another start, or nobody knows what of it is gone
		return reading{newest: r.last, changes: []Change{{}}}
	}
	return reading{rev: since}
}

// readOn reads some more, of what f takes. Once there is no more it returns what is closed at the next change.
func (j *journal) readOn(to *reading, f filter) (changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.revisions
	log := r.log[sort.Search(len(r.log), func(i int) bool { return r.log[i].rev > to.rev }):]
	marks := r.marks[sort.Search(len(r.marks), func(i int) bool { return r.marks[i].rev > max(to.rev, to.newest) }):]
	to.rev = r.last
	if len(log) > revisionsPer {
		log = log[:revisionsPer]
		to.rev = log[revisionsPer-1].rev
	}
	tell := func(until int64) {
		for ; len(marks) > 0 && marks[0].rev <= until; marks = marks[1:] {
			if m := marks[0]; f.Key == "" || m.key == "" || m.key == f.Key {
				to.changes = append(to.changes, Change{Rev: m.rev, Key: m.key})
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
			to.changes = append(to.changes, Change{Rev: e.Rev, Request: &shown})
		}
	}
	tell(to.rev)
	if to.begins = to.rev < r.unknown; to.rev < r.last {
		return nil
	}
	return j.next()
}
