package mockserver

import "sort"

// ring holds the last entries of one key, in the order of N. The journal locks it.
type ring struct {
	entries []entry
	oldest  int   // where it is, once the ring is full
	dropped int   // how many it has not kept, or no longer; not of stray, see journal.strays
	unsure  int   // dropped before the server knew the key: how many may have been of it, see journal.others
	cleared int64 // the number of the last request when it was cleared: what came until then is in no ring
	listed  bool  // the journal has it in its rings
	gone    bool  // its key was taken away
}

// add keeps e in a slot, in place of the oldest entry once there are limit, and returns the key of the one that it
// dropped: that of e where nothing is kept.
func (r *ring) add(e *entry, limit int) (slot int, key string, dropped bool) {
	switch {
	case limit == 0:
		return 0, e.Key, true
	case len(r.entries) < limit:
		r.entries = append(r.entries, *e)
		return len(r.entries) - 1, "", false
	}
	slot = r.oldest
	key = r.entries[slot].Key
	r.entries[slot] = *e
	r.oldest = (slot + 1) % limit
	return slot, key, true
}

// at returns the i-th entry from the oldest on.
func (r *ring) at(i int) *entry { return &r.entries[(r.oldest+i)%len(r.entries)] }

// replace puts e in the slot of the entry with its N, if that is still there.
func (r *ring) replace(e *entry) (slot int, kept bool) {
	i := sort.Search(len(r.entries), func(i int) bool { return r.at(i).N >= e.N })
	if i == len(r.entries) || r.at(i).N != e.N {
		return 0, false
	}
	slot = (r.oldest + i) % len(r.entries)
	r.entries[slot] = *e
	return slot, true
}

// clear forgets the entries, those until the number last.
func (r *ring) clear(last int64) { *r = ring{listed: r.listed, gone: r.gone, cleared: last} }

// remove forgets the entries of a key.
func (r *ring) remove(key string) {
	var kept []entry
	for i := range r.entries {
		if e := r.at(i); e.Key != key {
			kept = append(kept, *e)
		}
	}
	r.entries, r.oldest = kept, 0
}
