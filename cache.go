package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CachePolicy says how long an answer is reused. Receipt validations and errors are never kept, except a NOT_FOUND.
//
// The rate of a past date does not expire, today's expires at midnight in Lima, and a missing one when it may be
// published (docs/tipo-de-cambio.md). Contradictions that [WithLenientReading] accepted are not kept.
type CachePolicy struct {
	Consulta     time.Duration // a taxpayer. 0: 12 hours; negative: never
	Busqueda     time.Duration // the results of a search. 0: 1 hour; negative: never
	NoExiste     time.Duration // a RUC that no taxpayer has. 0: 1 hour; negative: never
	StaleIfError time.Duration // how much longer an answer serves while the service is away. 0: never; negative: never
	Entries      int           // answers kept in this process, of at most 2 kB a taxpayer. 0: 10 000; negative: an error
}

const forGood = time.Duration(math.MaxInt64)

// entry is a cached answer: a result or a NOT_FOUND. It is immutable.
type entry struct {
	answer
	lifetime time.Duration // how long it stays fresh from asOf on
}

// cache keeps answers in this process. A nil cache keeps nothing.
type cache struct {
	policy  CachePolicy
	clock   calendar
	entries *lru.Cache[cacheKey, *entry]
}

// newCache returns a cache with the policy's defaults filled in, and nil without a policy.
func newCache(given *CachePolicy, clock calendar) *cache {
	if given == nil {
		return nil
	}
	p := *given
	p.Consulta = cmp.Or(p.Consulta, 12*time.Hour)
	p.Busqueda = cmp.Or(p.Busqueda, time.Hour)
	p.NoExiste = cmp.Or(p.NoExiste, time.Hour)
	entries, _ := lru.New[cacheKey, *entry](cmp.Or(p.Entries, 10_000)) // fails for sizes below 1, which WithCache refuses
	return &cache{p, clock, entries}
}

// get returns the entry of a question, fresh or stale; nil if there is none.
func (c *cache) get(k cacheKey) *entry {
	if c == nil {
		return nil
	}
	e, _ := c.entries.Get(k)
	return e
}

// fresh returns the entry of a question if it is fresh; nil otherwise.
func (c *cache) fresh(k cacheKey) *entry {
	if e := c.get(k); e != nil && e.fresh(c.clock) {
		return e
	}
	return nil
}

// inOutage returns a result, fresh or stale, to use while the service is away; nil if there is none.
func (c *cache) inOutage(k cacheKey) *entry {
	e := c.get(k)
	if e == nil || e.err != nil {
		return nil
	}
	if age := c.clock.since(e.asOf); !e.fresh(c.clock) && (age < -clockSkew || age-e.lifetime >= c.policy.StaleIfError) {
		return nil
	}
	return e
}

// put stores an entry, unless there is a newer one.
func (c *cache) put(k cacheKey, e *entry) {
	if there, ok := c.entries.Peek(k); !ok || !there.Began.After(e.Began) {
		k.text = strings.Clone(k.text) // it may be a part of the caller's file
		c.entries.Add(k, e)
	}
}

// clockSkew is how far another process's clock may be ahead.
const clockSkew = time.Minute

// fresh reports whether the entry has not expired. One from the future, as after the clock was set back, is not fresh.
func (e *entry) fresh(c calendar) bool {
	if e.lifetime == forGood {
		return true
	}
	age := c.since(e.asOf)
	return -clockSkew <= age && age < e.lifetime
}

// newEntry returns the cache entry of an answer that the service gave at asOf.
func newEntry(a *answer, asOf time.Time, lifetime time.Duration) *entry {
	e := &entry{lifetime: lifetime}
	e.Status, e.Began = a.Status, a.Began
	e.outcome, e.result, e.warnings, e.shared = a.outcome, a.result, a.warnings, true
	e.source, e.asOf = SourceCache, asOf
	if a.err != nil {
		e.err = copyError(a.err)
		e.err.body = bytes.Clone(a.Body[:min(len(a.Body), longestPinned)])
	}
	return e
}

// recall answers from the cache.
func recall(c *cache) layer {
	if c == nil {
		return nil
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			if !q.set.fresh && ctx.Err() == nil {
				if e := c.fresh(q.key); e != nil {
					return &e.answer, nil
				}
			}
			return next(ctx, q)
		}
	}
}
