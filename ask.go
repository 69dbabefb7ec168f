package fiscope

import (
	"context"
	"errors"
	"time"
)

// question is an operation whose answer may serve more than one call.
type question[T any] interface {
	operation[T]
	key() cacheKey
	// lifetime is how long an answer of now may serve: 0 for not at all. found tells a result from a
	// NOT_FOUND.
	lifetime(p CachePolicy, result T, found bool, now time.Time) time.Duration
	copy(T) T
}

// ask answers a question from the cache, from a call that is already under way for the same, or by
// sending it.
func ask[T any, Q question[T]](ctx context.Context, c *Client, q Q, opts []CallOption) (T, error) {
	s := c.settings(opts)
	if c.flights == nil || ctx == nil || ctx.Err() != nil || s.invalid != nil {
		return send(ctx, c, q, s)
	}
	if c.cache != nil && !s.fresh {
		if e := c.cache.get(q.key()); e.serves(time.Now()) {
			return serve(c, q, e, s)
		}
	}
	return join(ctx, c, q, s)
}

// serve gives a caller its own copy of what is in the cache.
func serve[T any, Q question[T]](c *Client, q Q, e *entry, s settings) (T, error) {
	c.answeredWithout(AvoidedCached, q.key().op)
	if s.response != nil {
		*s.response = e.response(time.Now())
	}
	if e.missing != nil {
		var none T
		return none, e.missing.again(q.key().op)
	}
	return q.copy(e.value.(T)), nil
}

// landing is what a flight brought, for all who joined it.
type landing struct {
	entry  *entry // what to serve; nil where err is not
	cached bool   // it came from the shared store, or it is stale
	err    error
	resp   Response
}

// join takes part in the flight for a question, or starts it.
func join[T any, Q question[T]](ctx context.Context, c *Client, q Q, s settings) (T, error) {
	started := time.Now()
	led := false
	landed, err := c.flights.join(ctx, flightKey{q.key(), s.reserve, s.fresh}, func(ctx context.Context) landing {
		led = true
		return fly(ctx, c, q, s)
	})
	var none T
	if err != nil { // this caller gave up; the flight may go on for others
		return none, &Error{Op: q.key().op, cause: err, Delivery: Unknown}
	}
	if landed.cached {
		return serve(c, q, landed.entry, s)
	}
	if !led {
		c.answeredWithout(AvoidedCoalesced, q.key().op)
	}
	if s.response != nil {
		*s.response = landed.resp
		s.response.Coalesced = !led
		s.response.Duration = time.Since(started)
	}
	if landed.err != nil {
		return none, copyError(landed.err)
	}
	return q.copy(landed.entry.value.(T)), nil
}

// fly asks the shared store and then the service, and remembers what it learned.
func fly[T any, Q question[T]](ctx context.Context, c *Client, q Q, s settings) landing {
	now := time.Now()
	var old *entry
	if c.cache != nil && !s.fresh {
		if e := load(ctx, c, q); e.serves(now) {
			return landing{entry: e, cached: true}
		}
		old = c.cache.get(q.key())
	}
	var l landing
	var learned learned
	s.response, s.learned = &l.resp, &learned
	result, err := send(ctx, c, q, s)
	switch {
	case err == nil:
		l.entry = &entry{value: result, status: l.resp.StatusCode, warnings: l.resp.Warnings, stored: time.Now()}
		remember(ctx, c, q, l.entry, result, learned)
		return l
	case (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrQuotaExceeded)) && c.cache.staleServes(old):
		return landing{entry: c.cache.hold(q.key(), old), cached: true}
	}
	if errors.Is(err, ErrNotFound) {
		missing := copyError(err)
		remember(ctx, c, q, &entry{missing: missing, status: missing.StatusCode, stored: time.Now()}, result, learned)
	}
	l.err = err
	return l
}

// learned is what the cache needs of an answer besides its result.
type learned struct {
	body     []byte
	doubtful bool // lenient reading let a contradiction pass
}

// remember keeps an answer for as long as it may serve, here and in the shared store.
func remember[T any, Q question[T]](ctx context.Context, c *Client, q Q, e *entry, result T, l learned) {
	if c.cache == nil || l.doubtful {
		return
	}
	life := q.lifetime(c.cache.policy, result, e.missing == nil, e.stored)
	if life <= 0 {
		return
	}
	if life != forGood {
		e.expires = e.stored.Add(life)
	}
	c.cache.put(q.key(), e)
	save(ctx, c, q.key(), e, l.body)
}
