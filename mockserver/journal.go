package mockserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// journalDefault is how many requests of each key a server keeps; see [WithJournal].
const journalDefault = 1000

// ErrJournalTooSmall means that the journal cannot hold so many requests.
var ErrJournalTooSmall = errors.New("mockserver: el historial es muy pequeño")

// journal keeps the last requests of each key: a busy key does not displace another key's.
type journal struct {
	limit int          // of each ring; 0 keeps nothing
	turns atomic.Int64 // counter; see span
	known *atomic.Pointer[redact.Keys]

	mu       sync.Mutex
	last     int64          // the number of the last request
	calls    int            // the number of all calls
	spent    int            // the cost of all calls
	stray    ring           // requests with a missing or unknown key
	strays   map[string]int // requests that stray has dropped, by Key
	rings    []*ring        // of the keys that have sent a request
	revision int64          // counts changes and removals of entries
	marks    []removal      // in order; at most one per key
	changed  chan struct{}  // closed at the next change; nil if nothing waits for it
}

// linked is where an entry is, and the call that it repeats; see Request.
type linked struct {
	n       int64
	retryOf int64
	attempt int
	replay  int64
}

// record stores an entry in the ring of its key (nil for a missing or unknown one). An entry with a number replaces the entry
// with that number; if that was cleared, it is new. spent is its cost since it was last recorded; after a reset (wiped) a new
// entry does not have it.
func (j *journal) record(of *ring, e *entry, spent int, wiped bool) linked {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spent += spent
	if e.N == 0 {
		j.calls++
	}
	if e.Attempt == 0 && e.question != 0 && of != nil {
		of.link(e)
	}
	j.revision++
	e.Rev = j.revision
	cleared := int64(0)
	if of != nil {
		cleared = of.cleared
	}
	if of == nil || of.gone {
		of = &j.stray
	}
	if e.N <= max(cleared, of.cleared) {
		if e.N > 0 && wiped {
			e.Cost = 0
		}
		if of != &j.stray && !slices.Contains(j.rings, of) {
			j.rings = append(j.rings, of)
		}
		j.last++
		e.N = j.last
		if dropped, key := of.add(e, j.limit); dropped && of == &j.stray {
			j.strays[key]++
		}
	} else {
		of.replace(e)
	}
	if e.failed() {
		of.failed = max(of.failed, e.N)
	}
	if e.left && !e.repeated && e.question != 0 {
		if next := of.linkLate(e); next != nil {
			j.revision++
			next.Rev = j.revision
		}
	}
	j.notify()
	return linked{e.N, e.RetryOf, e.Attempt, e.Replay}
}

// next returns a channel that is closed at the next change. The lock is held, also in notify.
func (j *journal) next() <-chan struct{} {
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}

// notify wakes everything that waits for a change.
func (j *journal) notify() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// all returns the rings. The lock is held.
func (j *journal) all() []*ring { return append([]*ring{&j.stray}, j.rings...) }

// forget removes the requests of a key, also from before the server knew it. If the key was deleted, its calls in flight are
// recorded as requests with an unknown key.
func (j *journal) forget(of *ring, key string, deleted bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of.clear(j.last)
	j.stray.remove(key)
	j.stray.dropped -= j.strays[key]
	delete(j.strays, key)
	j.mark(key)
	if deleted {
		of.gone = true
		j.rings = slices.DeleteFunc(j.rings, func(r *ring) bool { return r == of })
	}
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.all() {
		r.clear(j.last)
	}
	clear(j.strays)
	j.mark("")
}

// dropped returns how many requests were dropped: of a key, by its ring (nil for an unknown key), or of all for "".
func (j *journal) dropped(of *ring, key string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.all() {
		if key == "" || r == of {
			n += r.dropped
		}
	}
	if key != "" {
		n += j.strays[key]
	}
	return n
}

// knows reports whether a request with an unknown key has this fingerprint.
func (j *journal) knows(fingerprint string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.strays[fingerprint] > 0 || slices.ContainsFunc(j.stray.entries, func(e entry) bool { return e.Key == fingerprint })
}

// entries returns the requests that match one of the filters, or all without a filter, in order.
func (j *journal) entries(filters ...filter) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.read(filters)
}

// read is entries. The lock is held.
func (j *journal) read(filters []filter) (found []entry) {
	matches, known := matchAny(filters), j.known.Load()
	j.each(func(e *entry) {
		if e.hide(known); matches(e) {
			found = append(found, *e)
		}
	})
	slices.SortFunc(found, func(a, b entry) int { return int(a.N - b.N) })
	return found
}

// each calls do with every entry. The lock is held.
func (j *journal) each(do func(*entry)) {
	for _, r := range j.all() {
		for i := range r.entries {
			do(&r.entries[i])
		}
	}
}

// wait returns the requests that match f once there are n. If ctx ends it returns those so far with its cause. If it has
// no room for n of the key, or of all keys, it returns ErrJournalTooSmall at once.
func (j *journal) wait(ctx context.Context, f filter, n, keys int) ([]entry, error) {
	for {
		j.mu.Lock()
		found := j.read([]filter{f})
		changed, rings := j.next(), keys
		if f.Key != "" {
			rings = 1
		} else if slices.ContainsFunc(j.stray.entries, func(e entry) bool { return f.differs(&e) == "" }) {
			rings++
		}
		j.mu.Unlock()
		switch {
		case len(found) >= n:
			return found, nil
		case j.limit == 0 || (n-1)/j.limit >= max(rings, 1):
			return found, fmt.Errorf("%w: guarda %d llamadas de cada clave de API, y se esperan %d: dé al servidor WithJournal(%d)", ErrJournalTooSmall, j.limit, n, n)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found, fmt.Errorf("mockserver: llegaron %d de %d %s: %w", len(found), n, j.known.Load().Out(f.String()), context.Cause(ctx))
		}
	}
}
