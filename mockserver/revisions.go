package mockserver

import (
	"slices"
	"sort"
)

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

// marksMost is how many marks are kept.
const marksMost = 1000

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
