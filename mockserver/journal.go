package mockserver

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"
)

// journalDefault is how many requests of each key a server remembers; see [WithJournal].
const journalDefault = 1000

// Request is one request that the server got, with its answer, as the journal keeps it: without claveSol
// and API keys, which are taken out before it is stored.
type Request struct {
	N       int64     `json:"n"`    // 1 for the server's first request, in the order of arrival at the journal
	Time    time.Time `json:"time"` // the server's clock when it came
	Op      Operation `json:"op,omitempty"`
	Matched bool      `json:"matched"` // it reached the operation: path, method and key were right
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Query   string    `json:"query,omitempty"` // the contract's parameters, decoded
	Key     string    `json:"key,omitempty"`   // a fingerprint: k_ and 8 hex digits, other ones in each process
	Agent   string    `json:"userAgent,omitempty"`
	RUC     string    `json:"ruc,omitempty"`  // the taxpayer looked up, or the issuer of the receipt
	Body    string    `json:"body,omitempty"` // of a receipt validation, redacted; else only its length and type
	Status  int       `json:"status"`         // 0 while it waits, and where no answer was sent
	Code    string    `json:"code,omitempty"` // the answer's, of an error
	Answer  string    `json:"answer,omitempty"`
	Cost    int       `json:"cost"`            // queries that it took from the quota: 1 or 0
	Left    int       `json:"left"`            // queries left after it; Unlimited where none is counted
	Conn    int64     `json:"conn,omitempty"`  // the number of its connection; 0 where it had none
	Reused  bool      `json:"reused"`          // not the first request of its connection
	Fault   string    `json:"fault,omitempty"` // the fault that met it
	SOL     SOLResult `json:"sol,omitempty"`   // what the tax authority made of the credentials
}

// entry is a request as it is stored. What costs something is done when somebody reads it.
type entry struct {
	Request
	answer []byte
	sol    uint64 // the hash of the SOL user that it tried; 0 for none
}

// journal remembers the last requests of each key, so that a busy key cannot push out another one's.
type journal struct {
	limit int // of each ring; 0 keeps nothing

	mu      sync.Mutex
	last    int64
	stray   ring          // requests with a missing or unknown key
	rings   []*ring       // of the keys that have sent something
	changed chan struct{} // closed at the next change; nil where nobody waits
}

// ring holds the last entries of one key, in the order of N. The journal locks it.
type ring struct {
	entries []entry
	oldest  int // where it is, once the ring is full
	dropped int
	listed  bool // the journal has it in its rings
}

// add keeps e, in place of the oldest entry once there are limit.
func (r *ring) add(e entry, limit int) {
	if len(r.entries) < limit {
		r.entries = append(r.entries, e)
		return
	}
	r.entries[r.oldest] = e
	r.oldest = (r.oldest + 1) % limit
	r.dropped++
}

// at returns the i-th entry from the oldest on.
func (r *ring) at(i int) *entry { return &r.entries[(r.oldest+i)%len(r.entries)] }

// replace puts e in the place of the entry with its N, if that is still there.
func (r *ring) replace(e entry) {
	i := sort.Search(len(r.entries), func(i int) bool { return r.at(i).N >= e.N })
	if i < len(r.entries) && r.at(i).N == e.N {
		*r.at(i) = e
	}
}

// clear forgets the entries, and that any was dropped.
func (r *ring) clear() { *r = ring{listed: r.listed} }

// record keeps an entry in the ring of its key, nil for a missing or unknown one, and returns its number.
// An entry that has a number already takes the place of the one that was kept under it.
func (j *journal) record(of *ring, e entry) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if of == nil {
		of = &j.stray
	} else if !of.listed {
		of.listed = true
		j.rings = append(j.rings, of)
	}
	if e.N == 0 {
		j.last++
		e.N = j.last
		of.add(e, j.limit)
	} else {
		of.replace(e)
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return e.N
}

// forget drops what the ring of a key holds.
func (j *journal) forget(of *ring) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rings = slices.DeleteFunc(j.rings, func(r *ring) bool { return r == of })
	*of = ring{}
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stray.clear()
	for _, r := range j.rings {
		r.clear()
	}
}

// dropped returns how many entries a ring has lost, or the whole journal for nil.
func (j *journal) dropped(of *ring) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if of != nil {
		return of.dropped
	}
	n = j.stray.dropped
	for _, r := range j.rings {
		n += r.dropped
	}
	return n
}

// entries returns what one of the filters takes, or all without a filter, in order.
func (j *journal) entries(filters ...filter) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.read(filters)
}

// read is entries with the lock held.
func (j *journal) read(filters []filter) (found []entry) {
	take := taking(filters)
	for _, r := range append([]*ring{&j.stray}, j.rings...) {
		for i := range r.entries {
			if e := r.at(i); take(&e.Request) {
				found = append(found, *e)
			}
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return int(a.N - b.N) })
	return found
}

// wait returns the entries that f takes, once there are n, or those so far with the reason of ctx.
func (j *journal) wait(ctx context.Context, f filter, n int) ([]entry, error) {
	for {
		j.mu.Lock()
		found := j.read([]filter{f})
		if j.changed == nil {
			j.changed = make(chan struct{})
		}
		changed := j.changed
		j.mu.Unlock()
		if len(found) >= n {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found, fmt.Errorf("mockserver: %d of %d %v: %w", len(found), n, f, context.Cause(ctx))
		}
	}
}

// requests are entries as they are shown.
func requests(entries []entry) []Request {
	list := make([]Request, len(entries))
	for i, e := range entries {
		list[i] = e.Request
		list[i].Answer = string(e.answer)
	}
	return list
}
