package fiscope

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/stored"
)

// CachePolicy says for how long an answer serves again. Its zero value has sensible times; a negative
// time is "never". What is not listed here is never kept: receipt validations, and every error but a
// NOT_FOUND with status 404 or 200.
//
// The rate of a past date is kept for good, and today's until midnight in Lima. That there is none is
// kept, for a weekend or a national holiday, for good; for another date until it is normally published
// (17:00 in Lima), then for 15 minutes at a time during 10 days, and then for a day.
//
// A stale answer is one, and marked ([Response].Stale). A batch counts it as a failure ([LotePolicy].MaxFailures),
// so that an outage stops it.
type CachePolicy struct {
	Consulta     time.Duration // a taxpayer: 12 hours
	Busqueda     time.Duration // the results of a search: 1 hour
	NoExiste     time.Duration // that no taxpayer has a RUC: 1 hour
	StaleIfError time.Duration // how much longer an answer serves while the service is unavailable or the quota is spent: not at all
	Entries      int           // how many answers are kept in this process: 10 000
}

const forGood = time.Duration(math.MaxInt64)

// cache keeps answers in this process, and shares them with the fleet. A nil cache keeps nothing.
type cache struct {
	policy  CachePolicy
	fleet   *fleet        // nil for none
	secrets scrub.Secrets // the API key: an answer in which it stands is not shared
	maxBody int64         // bytes of an answer
	clock   clock
	places  places                           // what a hit reads
	writing sync.Mutex                       // held from the look at an entry to its replacement
	order   *simplelru.LRU[cacheKey, *place] // the same, as they go
}

// newCache returns a cache with the policy's defaults filled in.
func newCache(p CachePolicy, f *fleet, secrets scrub.Secrets, maxBody int64, clock clock) (*cache, error) {
	p.Entries = cmp.Or(p.Entries, 10_000)
	p.Consulta = cmp.Or(p.Consulta, 12*time.Hour)
	p.Busqueda = cmp.Or(p.Busqueda, time.Hour)
	p.NoExiste = cmp.Or(p.NoExiste, time.Hour)
	c := &cache{policy: p, fleet: f, secrets: secrets, maxBody: maxBody, clock: clock}
	var err error
	if c.order, err = simplelru.NewLRU(p.Entries, func(_ cacheKey, gone *place) { c.places.remove(gone) }); err != nil {
		return nil, fmt.Errorf("fiscope: WithCache: %w", err)
	}
	c.places = newPlaces(p.Entries)
	return c, nil
}

func (c *cache) get(k cacheKey) *entry {
	if c == nil {
		return nil
	}
	p := c.places.get(k)
	if p == nil {
		return nil
	}
	if !p.hit.Load() {
		p.hit.Store(true)
	}
	return &p.entry
}

// answered returns how many calls entries have answered.
func (c *cache) answered() (calls int64) {
	if c == nil {
		return 0
	}
	for i := range c.places.chains {
		calls += c.places.chains[i].answered.Load()
	}
	return calls
}

// put keeps an entry, unless there is a newer one, and returns the one that is kept.
func (c *cache) put(k cacheKey, e *entry) *entry {
	c.writing.Lock()
	defer c.writing.Unlock()
	there, ok := c.order.Peek(k)
	if ok && there.entry.asked.After(e.asked) {
		return &there.entry
	}
	if !ok && c.order.Len() == c.policy.Entries {
		c.makeRoom()
	}
	p := &place{question: k, entry: *e}
	p.entry.answered = &c.places.chain(k).answered
	c.order.Add(k, p)
	c.places.put(p)
	if ok {
		c.places.remove(there)
	}
	return &p.entry
}

// makeRoom puts what was hit since it came last in front, until the last is one that was not. Where all were
// hit again and again meanwhile, the last goes anyway.
func (c *cache) makeRoom() {
	for range c.policy.Entries {
		k, last, ok := c.order.GetOldest()
		if !ok || !last.hit.Swap(false) {
			return
		}
		c.order.Get(k)
	}
}

// How long a stale answer serves before the service is tried again: an outage must not make every call
// wait for its own timeout.
const tryAgainAfter = 30 * time.Second

// standIn returns what serves where the service cannot be asked, because of failure: an answer that came
// meanwhile, or one that expired. It is nil where an error is better.
func (c *cache) standIn(k cacheKey, now time.Time, failure error) *entry {
	e := c.get(k)
	if e == nil || e.serves(c.clock) {
		return e
	}
	limit := e.stored.Add(e.lifetime).Add(c.policy.StaleIfError)
	if e.missing != nil || !now.Before(limit) {
		return nil
	}
	held := *e
	held.held, held.limit, held.instead = time.Now().Add(tryAgainAfter), limit, copyError(failure)
	held.instead.body = nil
	return c.put(k, &held)
}

// The longest time for which anything is shared.
const longestShared = 400 * 24 * time.Hour

// keep remembers an answer of now for as long as it may serve, here and in the fleet, to which body
// says what it was read from. Where the fleet has a newer one by then, that is kept, here too.
func (c *cache) keep(ctx context.Context, k cacheKey, e *entry, lifetime time.Duration, body []byte, read readShared) {
	if lifetime <= 0 {
		return
	}
	e.lifetime = lifetime
	if c.put(k, e).asked.After(e.asked) || c.fleet == nil {
		return
	}
	ttl, expires := longestShared, time.Time{} // zero for never
	if lifetime < forGood {
		ttl = min(ttl, min(ttl, lifetime)+min(ttl, max(0, c.policy.StaleIfError)))
		expires = e.stored.Add(lifetime)
	}
	// The body is the service's own, so that it is read with the same care as an answer.
	shared := stored.Answer{Status: e.status, Asked: e.asked, Stored: c.clock.toReal(e.stored), Expires: c.clock.toReal(expires), Body: body}
	c.fleet.save(ctx, k.parts(), func(ctx context.Context) []byte {
		if c.secrets.In(body) {
			return nil
		}
		if there := c.load(ctx, time.Time{}, k, read); there != nil && there.asked.After(e.asked) {
			return nil
		}
		return stored.Pack(shared)
	}, ttl)
}

// readShared reads an answer that the fleet stored then as one to this process. It returns nil for what is
// none, and for how long this process lets it serve.
type readShared func(status int, body []byte, stored time.Time) (*entry, time.Duration)

// find returns what serves now, and nil for nothing: what came since the caller looked, or what the fleet
// shares, for a caller with a deadline, zero for none. What is not an entry of ours is a miss.
func (c *cache) find(ctx context.Context, deadline time.Time, k cacheKey, read readShared) *entry {
	e := c.get(k)
	if !e.serves(c.clock) {
		e = c.load(ctx, deadline, k, read)
	}
	if !e.serves(c.clock) {
		return nil
	}
	return e
}

// load brings what the fleet shares into the cache. It serves for the shorter of two lifetimes, that of the
// process which stored it and this one's.
func (c *cache) load(ctx context.Context, deadline time.Time, k cacheKey, read readShared) *entry {
	s, ok := stored.Unpack(c.fleet.load(ctx, deadline, k.parts()), c.maxBody)
	now := time.Now()
	switch {
	case !ok, s.Status != http.StatusOK && s.Status != http.StatusNotFound:
		return nil
	case s.Stored.After(now.Add(ahead)), !s.Expires.IsZero() && !s.Expires.After(s.Stored):
		return nil
	}
	came := earliest(s.Stored, now)
	e, lifetime := read(s.Status, s.Body, came)
	if e == nil || lifetime <= 0 {
		return nil
	}
	if !s.Expires.IsZero() {
		lifetime = min(lifetime, forGood-1, s.Expires.Sub(came)) // which is forGood where it is 292 years or more
	}
	e.asked, e.stored, e.lifetime = earliest(s.Asked, came), c.clock.fromReal(came), lifetime
	return c.put(k, e)
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
