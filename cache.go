package fiscope

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CachePolicy says how long an answer is reused. In each field zero is the default and a negative time means never.
// Receipt validations and errors are never kept, except a NOT_FOUND.
//
// The rate of a past date does not expire, today's expires at midnight in Lima, and a missing one when it may be
// published (docs/tipo-de-cambio.md). Contradictions that [WithLenientReading] accepted are not kept.
type CachePolicy struct {
	Consulta     time.Duration // a taxpayer: 12 hours
	Busqueda     time.Duration // the results of a search: 1 hour
	NoExiste     time.Duration // a RUC that no taxpayer has: 1 hour
	StaleIfError time.Duration // how much longer an answer serves while the service is away: never
	Entries      int           // answers kept in this process: 10 000; a taxpayer takes at most 2 kB
}

const forGood = time.Duration(math.MaxInt64)

// cache keeps answers in this process. A nil cache keeps nothing.
type cache struct {
	policy  CachePolicy
	clock   clock
	entries *lru.Cache[cacheKey, *entry]
}

// newCache returns a cache with the policy's defaults filled in, and nil without a policy.
func newCache(given *CachePolicy, clock clock) (*cache, error) {
	if given == nil {
		return nil, nil
	}
	p := *given
	p.Consulta = cmp.Or(p.Consulta, 12*time.Hour)
	p.Busqueda = cmp.Or(p.Busqueda, time.Hour)
	p.NoExiste = cmp.Or(p.NoExiste, time.Hour)
	entries, err := lru.New[cacheKey, *entry](cmp.Or(p.Entries, 10_000))
	if err != nil {
		return nil, fmt.Errorf("fiscope: WithCache: %w", err)
	}
	return &cache{p, clock, entries}, nil
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
	e := c.get(k)
	if e == nil || !e.fresh(c.clock) {
		return nil
	}
	return e
}

// fallback returns a result, fresh or stale, to use while the service is away; nil if there is none.
func (c *cache) fallback(k cacheKey) *entry {
	e := c.get(k)
	if e == nil || e.missing != nil {
		return nil
	}
	if age := c.clock.since(e.stored); !e.fresh(c.clock) && (age < -clockSkew || age-e.lifetime >= c.policy.StaleIfError) {
		return nil
	}
	return e
}

// put stores an entry, unless there is a newer one.
func (c *cache) put(k cacheKey, e *entry) {
	if there, ok := c.entries.Peek(k); !ok || !there.answer.Began.After(e.answer.Began) {
		k.text = strings.Clone(k.text) // it may be a part of the caller's file
		c.entries.Add(k, e)
	}
}

// clockSkew is how far another process's clock may be ahead.
const clockSkew = time.Minute

// fresh reports whether the entry has not expired. One from the future, as after the clock was set back, is not fresh.
func (e *entry) fresh(c clock) bool {
	if e.lifetime == forGood {
		return true
	}
	age := c.since(e.stored)
	return -clockSkew <= age && age < e.lifetime
}

// newEntry returns the cache entry of an answer. missing is its error if it is a NOT_FOUND; nil otherwise. stored loses
// its monotonic reading, which stands still while the machine sleeps.
func newEntry(a *answer, missing *Error, stored time.Time, lifetime time.Duration) *entry {
	e := &entry{missing: missing, stored: stored.Round(0), lifetime: lifetime}
	e.answer.Status, e.answer.Began = a.Status, a.Began
	e.answer.outcome, e.answer.result, e.answer.warnings, e.answer.shared = a.outcome, a.result, a.warnings, true
	e.answer.kept = e
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

func (e *entry) response(c clock) Response {
	return Response{
		StatusCode: e.answer.Status,
		Warnings:   slices.Clone(e.answer.warnings),
		FromCache:  true,
		Age:        max(0, c.since(e.stored)),
		Stale:      !e.fresh(c),
	}
}
