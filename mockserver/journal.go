package mockserver

import (
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

// SOLResult is what the tax authority made of a SOL attempt; "" where none reached it.
type SOLResult string

// The results. All but SOLAccepted are answered with INVALID_SOL_CREDENTIALS.
const (
	SOLAccepted  SOLResult = "accepted"
	SOLWrong     SOLResult = "wrong"
	SOLUnknown   SOLResult = "unknown"
	SOLPrincipal SOLResult = "principal"
	SOLBlocked   SOLResult = "blocked"
)

// entry is a request as it is stored. What costs something is done when somebody reads it.
type entry struct {
	Request
	answer []byte
	sol    uint64 // who attempted, hashed; 0 for nobody
}

// journal remembers the last requests of each key, so that a busy key cannot push out another one's.
type journal struct {
	limit int // of each ring; 0 keeps nothing

	mu      sync.Mutex
	last    int64
	stray   ring // requests with a missing or unknown key
	rings   []*ring
	changed chan struct{} // closed at the next change; nil where nobody waits
}

// ring holds the last entries of one key, in the order of N.
type ring struct {
	entries []entry
	oldest  int // once it is full
	dropped int
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

func (r *ring) clear() { *r = ring{} }

// put keeps an entry, or replaces the one of the same N, and tells those who wait.
func (j *journal) put(a *account, e entry) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.stray
	if a != nil {
		if a.ring == nil {
			a.ring = new(ring)
			j.rings = append(j.rings, a.ring)
		}
		r = a.ring
	}
	if e.N == 0 {
		j.last++
		e.N = j.last
		r.add(e, j.limit)
	} else {
		r.replace(e)
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	return e.N
}

// forget drops what a key's ring holds.
func (j *journal) forget(a *account) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a.ring != nil {
		j.rings = slices.DeleteFunc(j.rings, func(r *ring) bool { return r == a.ring })
		a.ring = nil
	}
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stray.clear()
	for _, r := range j.rings {
		r.clear()
	}
}

// read returns the requests that f takes, in order, how many were dropped, and a channel that is closed
// when there may be more. It must be called with the lock held.
func (j *journal) read(take func(*entry) bool) (found []entry) {
	for _, r := range append([]*ring{&j.stray}, j.rings...) {
		for i := range r.entries {
			if e := r.at(i); take(e) {
				found = append(found, *e)
			}
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return int(a.N - b.N) })
	return found
}

func (j *journal) droppedOf(a *account) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a != nil {
		if a.ring == nil {
			return 0
		}
		return a.ring.dropped
	}
	n = j.stray.dropped
	for _, r := range j.rings {
		n += r.dropped
	}
	return n
}
