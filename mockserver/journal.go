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

// ErrJournalTooSmall is the error of a wait for more requests than the journal can hold; see [WithJournal].
var ErrJournalTooSmall = errors.New("mockserver: the journal is too small")

// journal remembers the last requests of each key, so that a busy key cannot push out another one's.
type journal struct {
	limit  int          // of each ring; 0 keeps nothing
	turns  atomic.Int64 // handed out; see span
	known  *atomic.Pointer[redact.Keys]
	broken brokenCalls

	mu        sync.Mutex
	last      int64          // the number of the last request
	calls     int            // how many there were
	spent     int            // queries that all of them cost
	stray     ring           // requests with a missing or unknown key
	rings     []*ring        // of the keys that have sent something
	strays    map[string]int // requests that stray has dropped, by their Key: of straysMost keys at most ...
	others    int            // ... and of all the other ones
	revisions revisions
	changed   chan struct{} // closed at the next change; nil where nobody waits
}

// straysMost is of how many keys that the server does not know the journal tells apart what it has dropped.
const straysMost = 1000

// record keeps an entry in the ring of its key, nil for a missing or unknown one, and returns its number.
// An entry that has a number already takes the place of the one that was kept under it; where that was cleared
// meanwhile, it is a new one. spent is what the request has cost since it was last recorded, and wiped that a
// reset of the quotas has forgotten what it cost: a new entry does not have that.
func (j *journal) record(of *ring, e *entry, spent int, wiped bool) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spent += spent
	if e.N == 0 {
		j.calls++
	}
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
		slot, key, dropped := of.add(e, j.limit)
		if dropped {
			j.drop(of, key)
		}
		if j.limit > 0 {
			j.revisions.keep(of, slot)
		}
	} else if slot, kept := of.replace(e); kept {
		j.revisions.keep(of, slot)
	}
	j.tell()
	return e.N
}

// next returns what is closed at the next change. It is called with the lock held, as is tell.
func (j *journal) next() <-chan struct{} {
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}

// tell wakes whoever waits for a change.
func (j *journal) tell() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// drop counts a request that a ring has dropped.
func (j *journal) drop(of *ring, key string) {
	if of != &j.stray {
		of.dropped++
		return
	}
	if _, counted := j.strays[key]; !counted && len(j.strays) == straysMost {
		j.others++
		return
	}
	if j.strays == nil {
		j.strays = map[string]int{}
	}
	j.strays[key]++
}

// list notes a ring of a key among the others. It is called with the lock held.
func (j *journal) list(of *ring) {
	if of != &j.stray && !of.listed {
		of.listed = true
		j.rings = append(j.rings, of)
	}
}

// begin begins the ring of a key that the server did not know until now.
func (j *journal) begin(of *ring) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.others > 0 {
		of.unsure = j.others
		j.list(of)
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

// forgetKey drops what the journal has of a key, also from before the server knew it, and that it has dropped
// anything.
func (j *journal) forgetKey(of *ring, key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.forget(of, key)
}

// forget is forgetKey with the lock held.
func (j *journal) forget(of *ring, key string) {
	of.clear(j.last)
	j.stray.remove(key)
	delete(j.strays, key)
	j.revisions.moved(&j.stray)
	j.revisions.forget(key)
	j.broken.forget(key)
	j.tell()
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stray.clear(j.last)
	for _, r := range j.rings {
		r.clear(j.last)
	}
	j.strays, j.others = nil, 0
	j.revisions.forget("")
	j.broken.forget("")
	j.tell()
}

// lost returns how many requests of a key were dropped, by its ring, nil for an unknown key, or of all keys for
// "". Of a key that is not told apart it returns how many may be of it.
func (j *journal) lost(of *ring, key string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.strays[key]
	switch {
	case of != nil:
		return n + of.dropped + of.unsure
	case key == "":
		n = j.others
		for _, of := range j.strays {
			n += of
		}
		for _, r := range j.rings {
			n += r.dropped
		}
	case n == 0:
		return j.others
	}
	return n
}

// knows reports whether a request that came without a known key has this fingerprint.
func (j *journal) knows(fingerprint string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.strays[fingerprint] > 0 ||
		slices.ContainsFunc(j.stray.entries, func(e entry) bool { return e.Key == fingerprint })
}

// totals returns how many requests there were, and what they cost, kept or not.
func (j *journal) totals() (calls, spent int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.calls, j.spent
}

// holds reports whether the journal can hold n requests that f takes: of so many known keys, and of the others
// where it takes one of those.
func (j *journal) holds(f filter, n, keys int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if slices.ContainsFunc(j.stray.entries, func(e entry) bool { return f.differs(&e) == "" }) {
		keys++
	}
	return n <= 0 || j.limit > 0 && (n-1)/j.limit < max(keys, 1)
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
	for _, r := range append([]*ring{&j.stray}, j.rings...) {
		for i := range r.entries {
			e := r.at(i)
			if e.hide(known); take(e) {
				found = append(found, *e)
			}
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return int(a.N - b.N) })
	return found
}

// wait returns the entries that f takes, once there are n, or those so far with the reason of ctx, or at once
// with ErrJournalTooSmall where there is no room for n of so many keys.
func (j *journal) wait(ctx context.Context, f filter, n, keys int) ([]entry, error) {
	for {
		j.mu.Lock()
		found := j.read([]filter{f})
		changed := j.next()
		j.mu.Unlock()
		switch {
		case len(found) >= n:
			return found, nil
		case !j.holds(f, n, keys):
			return found, fmt.Errorf("%w: it keeps %d requests of each key, and %d are waited for: give the server WithJournal(%d)", ErrJournalTooSmall, j.limit, n, n)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found, fmt.Errorf("mockserver: %d of %d %s: %w", len(found), n, j.known.Load().Out(f.String()), context.Cause(ctx))
		}
	}
}
