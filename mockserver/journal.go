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

// journalDefault is how many requests of each key a server remembers; see [WithJournal].
const journalDefault = 1000

// ErrJournalTooSmall reports a wait for more requests than the journal holds.
var ErrJournalTooSmall = errors.New("mockserver: el historial es muy pequeño")

// journal remembers the last requests of each key, so that a busy key cannot push out another one's.
type journal struct {
	limit int          // of each ring; 0 keeps nothing
	turns atomic.Int64 // handed out; see span
	known *atomic.Pointer[redact.Keys]

	mu       sync.Mutex
	last     int64          // the number of the last request
	calls    int            // how many there were
	spent    int            // queries that all of them cost
	stray    ring           // requests with a missing or unknown key
	strays   map[string]int // what stray has dropped, by Key
	rings    []*ring        // of the keys that have sent something
	revision int64          // how often an entry changed, or was forgotten
	marks    []forgotten    // in order: when requests were forgotten, one of each key
	changed  chan struct{}  // closed at the next change; nil if nobody waits
}

// record keeps an entry in the ring of its key, nil for a missing or unknown one, and returns its number. An entry that has a
// number replaces the one with that number; if that was cleared, it is a new one. spent is what the request has cost
// since it was last recorded. wiped says that a reset has forgotten what it cost: a new entry does not have that.
func (j *journal) record(of *ring, e *entry, spent int, wiped bool) int64 {
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
		j.list(of)
		j.last++
		e.N = j.last
		if dropped, key := of.add(e, j.limit); dropped && of == &j.stray {
			if j.strays == nil {
				j.strays = map[string]int{}
			}
			j.strays[key]++
		}
	} else {
		of.replace(e)
	}
	if e.left && !e.repeated && e.question != 0 {
		if next := of.linkLate(e); next != nil {
			j.revision++
			next.Rev = j.revision
		}
	}
	j.notify()
	return e.N
}

// next returns what is closed at the next change. It is called with the lock held, as is notify.
func (j *journal) next() <-chan struct{} {
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}

// notify wakes all that wait for a change.
func (j *journal) notify() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// list notes a ring of a key among the others. It is called with the lock held.
func (j *journal) list(of *ring) {
	if of != &j.stray && !of.listed {
		of.listed = true
		j.rings = append(j.rings, of)
	}
}

// takeAway ends the ring of a key that the server no longer knows: what its calls under way still are to be
// recorded as is among the requests without a known key, and what there was is forgotten.
func (j *journal) takeAway(of *ring, key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.forget(of, key) // with the lock held on: what a call recorded in between would be gone without a mark
	j.rings = slices.DeleteFunc(j.rings, func(r *ring) bool { return r == of })
	of.gone = true
}

// forgetKey drops what the journal has of a key, also from before the server knew it, and that it has dropped anything.
func (j *journal) forgetKey(of *ring, key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.forget(of, key)
}

// forget is forgetKey with the lock held.
func (j *journal) forget(of *ring, key string) {
	of.clear(j.last)
	j.stray.remove(key)
	j.stray.dropped -= j.strays[key]
	delete(j.strays, key)
	j.mark(key)
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stray.clear(j.last)
	j.strays = nil
	for _, r := range j.rings {
		r.clear(j.last)
	}
	j.mark("")
}

// droppedOf returns how many requests of a key were dropped, by its ring, nil for an unknown key, or of all keys for "".
func (j *journal) droppedOf(of *ring, key string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.strays[key]
	switch {
	case of != nil:
		n += of.dropped
	case key == "":
		n = j.stray.dropped
		for _, r := range j.rings {
			n += r.dropped
		}
	}
	return n
}

// knows reports whether a request that came without a known key has this fingerprint.
func (j *journal) knows(fingerprint string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.strays[fingerprint] > 0 || slices.ContainsFunc(j.stray.entries, func(e entry) bool { return e.Key == fingerprint })
}

// totals returns how many requests there were, and what they cost, kept or not.
func (j *journal) totals() (calls, spent int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.calls, j.spent
}

// entries returns what one of the filters takes, or all without a filter, in order.
func (j *journal) entries(filters ...filter) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.read(filters)
}

// read is entries with the lock held.
func (j *journal) read(filters []filter) (found []entry) {
	take, known := taking(filters), j.known.Load()
	j.each(func(e *entry) {
		if e.hide(known); take(e) {
			found = append(found, *e)
		}
	})
	slices.SortFunc(found, func(a, b entry) int { return int(a.N - b.N) })
	return found
}

// each calls do with every entry. It is called with the lock held.
func (j *journal) each(do func(*entry)) {
	for _, r := range append([]*ring{&j.stray}, j.rings...) {
		for i := range r.entries {
			do(&r.entries[i])
		}
	}
}

// wait returns the entries that f takes once there are n, or those so far with the cause of ctx, or fails at once with
// ErrJournalTooSmall. keys is how many known keys can send such requests.
func (j *journal) wait(ctx context.Context, f filter, n, keys int) ([]entry, error) {
	for {
		j.mu.Lock()
		found := j.read([]filter{f})
		changed, rings := j.next(), keys
		if slices.ContainsFunc(j.stray.entries, func(e entry) bool { return f.differs(&e) == "" }) {
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
