package mockserver

import "sort"

// ring holds the last entries of one key, ordered by N. The journal locks it.
type ring struct {
	entries []entry
	oldest  int   // its index, once the ring is full
	failed  int64 // the number of the last entry that may be repeated
	dropped int   // how many it has dropped
	cleared int64 // the last request's number when it was cleared: earlier ones are in no ring
	gone    bool  // its key was deleted
}

// add stores an entry. If that drops one, because there are already limit, it returns the key of the dropped one.
func (r *ring) add(e *entry, limit int) (dropped bool, key string) {
	if len(r.entries) < limit {
		r.entries = append(r.entries, *e)
		return false, ""
	}
	r.dropped++
	if limit == 0 {
		return true, e.Key
	}
	key = r.entries[r.oldest].Key
	r.entries[r.oldest] = *e
	r.oldest = (r.oldest + 1) % limit
	return true, key
}

// at returns the i-th oldest entry.
func (r *ring) at(i int) *entry { return &r.entries[(r.oldest+i)%len(r.entries)] }

// find returns the entry with a number, or nil.
func (r *ring) find(n int64) *entry {
	if n == 0 {
		return nil
	}
	i := sort.Search(len(r.entries), func(i int) bool { return r.at(i).N >= n })
	if i < len(r.entries) && r.at(i).N == n {
		return r.at(i)
	}
	return nil
}

// replace replaces the entry with the same N, if it is still there.
func (r *ring) replace(e *entry) {
	if was := r.find(e.N); was != nil {
		e.repeated = was.repeated
		*was = *e
	}
}

// clear removes the entries; last is the number of the last request.
func (r *ring) clear(last int64) { *r = ring{gone: r.gone, cleared: last} }

// remove removes the entries of a key.
func (r *ring) remove(key string) {
	var kept []entry
	for i := range r.entries {
		if e := r.at(i); e.Key != key {
			kept = append(kept, *e)
		}
	}
	r.entries, r.oldest = kept, 0
}
