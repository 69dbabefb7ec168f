package mockserver

import "sort"

// ring holds the last entries of one key, in the order of N. The journal locks it.
type ring struct {
	entries []entry
	oldest  int   // where it is, once the ring is full
	dropped int   // how many it has not kept, or no longer
	cleared int64 // the number of the last request when it was cleared: what came until then is in no ring
	listed  bool  // the journal has it in its rings
	gone    bool  // its key was taken away
}

// add keeps an entry, in place of the oldest one once there are limit, and returns the key of the one that it dropped.
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

// at returns the i-th entry from the oldest on.
func (r *ring) at(i int) *entry { return &r.entries[(r.oldest+i)%len(r.entries)] }

// find returns the entry with a number, or nil.
func (r *ring) find(n int64) *entry {
	i := sort.Search(len(r.entries), func(i int) bool { return r.at(i).N >= n })
	if i < len(r.entries) && r.at(i).N == n {
		return r.at(i)
	}
	return nil
}

// replace puts an entry in place of the one with its N, if that is still there.
func (r *ring) replace(e *entry) {
	if was := r.find(e.N); was != nil {
		e.repeated = was.repeated
		*was = *e
	}
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
