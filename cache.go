package fiscope

import (
	"errors"
	"fmt"
	"math"
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

// WithCache keeps answers, so that the same question is paid once; it implies [WithCoalescing]. With
// [WithStore] the answers are shared by all processes.
func WithCache(p CachePolicy) Option {
	return option(func(c *Client) error {
		if p.Entries < 0 {
			return fmt.Errorf("fiscope: WithCache: want Entries >= 0, got %d", p.Entries)
		}
		p.Entries = orDefault(p.Entries, 10_000)
		p.Consulta = orDefault(p.Consulta, 12*time.Hour)
		p.Busqueda = orDefault(p.Busqueda, time.Hour)
		p.NoExiste = orDefault(p.NoExiste, time.Hour)
		entries, err := lru.New[cacheKey, *entry](p.Entries)
		if err != nil {
			return fmt.Errorf("fiscope: WithCache: %w", err)
		}
		c.cache = &cache{policy: p, entries: entries}
		return nil
	})
}

func orDefault[N int | time.Duration](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}

// WithoutCache asks the service whatever the cache holds. The answer is kept for the next call.
func WithoutCache() CallOption {
	return callOption(func(s *settings) error {
		s.fresh = true
		return nil
	})
}

// cacheKey is a question. Being a value, it is looked up without an allocation.
type cacheKey struct {
	op    Operation
	text  string
	n     int
	fecha Fecha
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

type cache struct {
	policy  CachePolicy
	entries *lru.Cache[cacheKey, *entry]
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

// again returns the error of an earlier call as that of this one.
func (e *Error) again(op Operation) *Error {
	return &Error{Op: op, StatusCode: e.StatusCode, Code: e.Code, Message: e.Message, kind: e.kind, body: e.body}
}

func copyError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{cause: err}
	}
	c := *e
	return &c
}
