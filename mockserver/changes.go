package mockserver

import (
	"cmp"
	"context"
	"slices"
)

// Change is a revision of the journal: a request changed, or was removed.
type Change struct {
	Rev     int64    // 0 means "forget all"; see Server.Changes
	Request *Request // the current state; nil if requests were removed
	Key     string   // whose requests were removed, as a fingerprint; "" for all
}

// Changes waits for changes after the revision since that match f. 0 is the beginning. It returns at most 1000 changes,
// and the revision to continue from, also with an error: the cause of ctx. If since is beyond the journal's last
// revision, the first change has Rev 0: forget all.
func (s *Server) Changes(ctx context.Context, since int64, f Filter) (changes []Change, rev int64, err error) {
	for {
		changes, rev, changed := s.journal.after(since, s.filter(f)) // each time: a key may have been added
		if len(changes) > 0 {
			return changes, rev, nil
		}
		since = rev
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
	return s.journal.revision
}

// changesMost is the maximum number of changes returned.
const changesMost = 1000

// removal marks the revision at which the requests of a key, "" for all, were removed.
type removal struct {
	rev int64
	key string
}

// mark records that the entries of a key, "" for all, were removed. The lock is held.
func (j *journal) mark(key string) {
	j.revision++
	j.marks = slices.DeleteFunc(j.marks, func(m removal) bool { return key == "" || m.key == key })
	j.marks = append(j.marks, removal{j.revision, key})
	j.notify()
}

// after returns the changes after a revision that match f, the revision that they reach, and a channel that is closed at
// the next change.
func (j *journal) after(since int64, f filter) (changes []Change, rev int64, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if since > j.revision { // of an earlier server
		changes, since = []Change{{}}, 0
	}
	for _, m := range j.marks {
		if since > 0 && m.rev > since && (f.Key == "" || m.key == "" || m.key == f.Key) {
			changes = append(changes, Change{Rev: m.rev, Key: m.key})
		}
	}
	known := j.known.Load()
	var found []*entry
	j.each(func(e *entry) {
		if e.Rev <= since {
			return
		}
		if e.hide(known); f.differs(e) == "" {
			found = append(found, e)
		}
	})
	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.Rev, b.Rev) })
	rev = j.revision
	if len(found) > changesMost {
		found = found[:changesMost]
		rev = found[changesMost-1].Rev
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Rev > rev })
	for _, e := range found {
		shown := e.shown()
		changes = append(changes, Change{Rev: e.Rev, Request: &shown})
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Rev, b.Rev) })
	return changes, rev, j.next()
}
