package fiscope

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CachePolicy says for how long an answer serves again. Its zero value has sensible times; a negative
// time is "never". What is not listed here is never kept: receipt validations, and every error but
// NOT_FOUND.
//
// The rate of a past date is kept for good, and today's until midnight in Lima. That there is none is
// kept, for a weekend or a national holiday, for good; for another date until it is normally published
// (17:00 in Lima), then for 15 minutes at a time during 10 days, and then for a day.
type CachePolicy struct {
	Consulta     time.Duration // a taxpayer: 12 hours
	Busqueda     time.Duration // the results of a search: 1 hour
	NoExiste     time.Duration // that no taxpayer has a RUC: 1 hour
	StaleIfError time.Duration // how much longer an answer serves while the service is unavailable or the quota is spent: not at all
	Entries      int           // how many answers are kept in this process: 10 000
}

const forGood = time.Duration(math.MaxInt64)

// cacheKey is a question. Being a value, it is looked up without an allocation.
type cacheKey struct {
	op    Operation
	text  string
	n     int
	fecha Fecha
}

func (k cacheKey) parts() []string {
	return []string{string(k.op), k.text, strconv.Itoa(k.n), k.fecha.String()}
}

// entry is an answer that is kept. It is never changed once it is in the cache.
type entry struct {
	value    any    // the operation's result; nil where missing is not
	missing  *Error // NOT_FOUND
	status   int
	warnings []string
	stored   time.Time
	expires  time.Time // zero for never
	held     time.Time // until when it serves although it expired
}

func (e *entry) serves(now time.Time) bool {
	return e != nil && (e.expires.IsZero() || now.Before(e.expires) || now.Before(e.held))
}

func (e *entry) response(now time.Time) Response {
	return Response{
		StatusCode: e.status,
		Warnings:   e.warnings,
		FromCache:  true,
		Age:        now.Sub(e.stored),
		Stale:      !e.expires.IsZero() && !now.Before(e.expires),
	}
}

// cache keeps answers in this process, and shares them with the fleet. A nil cache keeps nothing.
type cache struct {
	policy  CachePolicy
	entries *lru.Cache[cacheKey, *entry]
	fleet   *fleet // nil for none
}

// newCache returns a cache with the policy's defaults filled in.
func newCache(p CachePolicy, f *fleet) (*cache, error) {
	p.Entries = cmp.Or(p.Entries, 10_000)
	p.Consulta = cmp.Or(p.Consulta, 12*time.Hour)
	p.Busqueda = cmp.Or(p.Busqueda, time.Hour)
	p.NoExiste = cmp.Or(p.NoExiste, time.Hour)
	entries, err := lru.New[cacheKey, *entry](p.Entries)
	if err != nil {
		return nil, fmt.Errorf("fiscope: WithCache: %w", err)
	}
	return &cache{policy: p, entries: entries, fleet: f}, nil
}

func (c *cache) get(k cacheKey) *entry {
	e, _ := c.entries.Get(k)
	return e
}

func (c *cache) put(k cacheKey, e *entry) { c.entries.Add(k, e) }

// staleServes reports whether an expired answer is better than none.
func (c *cache) staleServes(e *entry) bool {
	return c != nil && e != nil && e.missing == nil && time.Now().Before(e.expires.Add(c.policy.StaleIfError))
}

// How long a stale answer serves before the service is tried again: an outage must not make every call
// wait for its own timeout.
const tryAgainAfter = 30 * time.Second

func (c *cache) hold(k cacheKey, e *entry) *entry {
	held := *e
	held.held = time.Now().Add(tryAgainAfter)
	if limit := e.expires.Add(c.policy.StaleIfError); held.held.After(limit) {
		held.held = limit
	}
	c.put(k, &held)
	return &held
}

// sharedEntry is an entry as the fleet shares it. The body is the service's own, so that it is read with
// the same care as an answer.
type sharedEntry struct {
	Version int       `json:"v"`
	Status  int       `json:"status"`
	Stored  time.Time `json:"stored"`
	Expires time.Time `json:"expires,omitzero"`
	Body    []byte    `json:"body,omitempty"`
	Message string    `json:"message,omitempty"`
}

const sharedVersion = 1

// The longest time for which anything is shared.
const longestShared = 400 * 24 * time.Hour

// keep remembers an answer of now for as long as it may serve, here and in the fleet, to which body
// says what it was read from.
func (c *cache) keep(ctx context.Context, k cacheKey, e *entry, lifetime time.Duration, body []byte) {
	if lifetime <= 0 {
		return
	}
	if lifetime != forGood {
		e.expires = e.stored.Add(lifetime)
	}
	c.put(k, e)
	if c.fleet == nil {
		return
	}
	s := sharedEntry{Version: sharedVersion, Status: e.status, Stored: e.stored, Expires: e.expires, Body: body}
	if e.missing != nil {
		s.Status, s.Body, s.Message = http.StatusNotFound, nil, e.missing.Message
	}
	value, err := json.Marshal(s)
	if err != nil {
		return
	}
	ttl := longestShared
	if !e.expires.IsZero() {
		ttl = min(ttl, e.expires.Sub(e.stored)+max(0, c.policy.StaleIfError))
	}
	c.fleet.save(ctx, k.parts(), value, ttl)
}

// load brings what the fleet shares into the cache, its body read by read. What is not an entry of ours
// is a miss.
func (c *cache) load(ctx context.Context, k cacheKey, read func(body []byte) (value any, warnings []string, ok bool)) *entry {
	value := c.fleet.load(ctx, k.parts())
	var s sharedEntry
	if value == nil || json.Unmarshal(value, &s) != nil || s.Version != sharedVersion || s.Stored.IsZero() || s.Stored.After(time.Now().Add(time.Minute)) {
		return nil
	}
	e := &entry{status: s.Status, stored: s.Stored, expires: s.Expires}
	switch s.Status {
	case http.StatusOK:
		var ok bool
		if e.value, e.warnings, ok = read(s.Body); !ok {
			return nil
		}
	case http.StatusNotFound:
		e.missing = notFound(s.Status, CodeNotFound, s.Message)
	default:
		return nil
	}
	c.put(k, e)
	return e
}
