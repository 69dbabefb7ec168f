package fiscope

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// places are those of a cache by their questions. Who looks one up takes no lock, so that hits on many cores do not
// wait for each other; who changes them holds the cache's mutex.
type places struct {
	seed   maphash.Seed
	chains []chain
}

// chain has the places whose questions have the same hash, modulo the number of chains, a power of two.
type chain struct {
	newest   atomic.Pointer[place]
	answered atomic.Int64 // calls by its places so far, of which one counter would make all wait
}

// place is where an entry is kept, in the place itself so that a hit follows one pointer less. A hit only marks
// it, so that many goroutines do not wait for each other to put what they hit in front; it is put there when room
// is made for another.
type place struct {
	question cacheKey
	entry    entry
	hit      atomic.Bool
	next     atomic.Pointer[place] // in its chain
}

// The most chains, of 16 bytes each: with more entries than that they are longer.
const mostChains = 1 << 20

func newPlaces(entries int) places {
	return places{maphash.MakeSeed(), make([]chain, 1<<bits.Len(uint(min(entries, mostChains)-1)))}
}

func (ps *places) chain(k cacheKey) *chain {
	n := k.n + 372*k.fecha.Year() + 31*int(k.fecha.Month()) + k.fecha.Day()
	h := int(maphash.String(ps.seed, k.text)) + n //nolint:gosec // any number will do
	return &ps.chains[h&(len(ps.chains)-1)]
}

// get returns the place of a question, and nil for none.
func (ps *places) get(k cacheKey) *place {
	p := ps.chain(k).newest.Load()
	for p != nil && p.question != k {
		p = p.next.Load()
	}
	return p
}

// put adds a place, before an older one of its question.
func (ps *places) put(p *place) {
	first := &ps.chain(p.question).newest
	p.next.Store(first.Load())
	first.Store(p)
}

// remove takes a place out. Who is looking at it finds from there those that follow.
func (ps *places) remove(p *place) {
	link := &ps.chain(p.question).newest
	for there := link.Load(); there != p; there = link.Load() {
		link = &there.next
	}
	link.Store(p.next.Load())
}
