package mockserver

import (
	"cmp"
	"slices"
)

// Change is a revision of the journal: a request changed, or was removed.
type Change struct {
	Rev     int64    // 0 means "forget all"; see Control.Changes
	Request *Request // the current state; nil if requests were removed
	Key     string   // whose requests were removed, as a fingerprint; "" for all
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
