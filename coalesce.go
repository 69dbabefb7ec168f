package fiscope

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/coalesce"
	"github.com/fiscope/fiscope/internal/exchange"
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

// asker answers questions from the cache, from a query that is under way for the same, or by sending
// one.
type asker struct {
	*sender
	cache   *cache                                // nil for none
	queries *coalesce.Group[sharedQuery, *shared] // nil where every call sends its own
}

// sharedQuery is what the calls have in common that may share a query.
type sharedQuery struct {
	question cacheKey
	reserve  int
	fresh    bool
}

// shared is what a query brought, for all who share it.
type shared struct {
	entry  *entry // what to serve; nil where err is not
	cached bool   // it came from the fleet, or it is stale
	err    error
	resp   Response
}

// ask is the path of a question.
func ask[T any, Q question[T]](ctx context.Context, a *asker, q Q, opts []CallOption) (T, error) {
	s := a.settings(opts)
	if a.queries == nil || ctx == nil || ctx.Err() != nil || s.invalid != nil {
		return send(ctx, a.sender, q, s)
	}
	if a.cache != nil && !s.fresh {
		if e := a.cache.get(q.key()); e.serves(time.Now()) {
			return serve(a, q, e, s)
		}
	}
	return join(ctx, a, q, s)
}

// serve gives a caller its own copy of what is in the cache.
func serve[T any, Q question[T]](a *asker, q Q, e *entry, s settings) (T, error) {
	a.observer.call(context.Background(), q.key().op, AvoidedCached, 0)
	if s.response != nil {
		*s.response = e.response(time.Now())
	}
	if e.missing != nil {
		var none T
		return none, e.missing.again(q.key().op)
	}
	return q.copy(e.value.(T)), nil
}

// join takes part in the query that is under way for a question, or begins it.
func join[T any, Q question[T]](ctx context.Context, a *asker, q Q, s settings) (T, error) {
	started := time.Now()
	got, first, err := a.queries.Join(ctx, sharedQuery{q.key(), s.reserve, s.fresh}, func(ctx context.Context) *shared {
		return query(ctx, a, q, s)
	})
	var none T
	if err != nil { // this caller gave up; the query may go on for others
		return none, abandoned(q.key().op, err)
	}
	if got.cached {
		return serve(a, q, got.entry, s)
	}
	if !first {
		a.observer.call(context.Background(), q.key().op, AvoidedCoalesced, 0)
	}
	if s.response != nil {
		*s.response = got.resp
		s.response.Coalesced = !first
		s.response.Duration = time.Since(started)
	}
	if got.err != nil {
		return none, copyError(got.err)
	}
	return q.copy(got.entry.value.(T)), nil
}

// query asks the fleet and then the service, and remembers what it learned.
func query[T any, Q question[T]](ctx context.Context, a *asker, q Q, s settings) *shared {
	now := time.Now()
	var old *entry
	if a.cache != nil && !s.fresh {
		if e := a.cache.load(ctx, q.key(), readAgain(a, q)); e.serves(now) {
			return &shared{entry: e, cached: true}
		}
		old = a.cache.get(q.key())
	}
	result, c, err := run(ctx, a.sender, q, s)
	got := &shared{resp: c.response(), err: err}
	switch {
	case err == nil:
		got.entry = &entry{value: result, status: got.resp.StatusCode, warnings: got.resp.Warnings, stored: time.Now()}
		remember(ctx, a, q, got.entry, result, &c.answer)
	case errors.Is(err, ErrNotFound):
		missing := copyError(err)
		remember(ctx, a, q, &entry{missing: missing, status: missing.StatusCode, stored: time.Now()}, result, &c.answer)
	case (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrQuotaExceeded)) && a.cache.staleServes(old):
		return &shared{entry: a.cache.hold(q.key(), old), cached: true}
	}
	return got
}

// remember keeps an answer for as long as it may serve, unless lenient reading let a contradiction pass.
func remember[T any, Q question[T]](ctx context.Context, a *asker, q Q, e *entry, result T, from *answer) {
	if a.cache == nil || from.contradicted {
		return
	}
	lifetime := q.lifetime(a.cache.policy, result, e.missing == nil, e.stored)
	a.cache.keep(ctx, q.key(), e, lifetime, from.Body)
}

// readAgain reads the body of an answer to another process as one to this call.
func readAgain[T any, Q question[T]](a *asker, q Q) func(body []byte) (any, []string, bool) {
	return func(body []byte) (any, []string, bool) {
		again := newAnswer(exchange.Answer{Status: http.StatusOK, Body: body}, a.sender.reading(nil))
		result, err := q.read(&again)
		return result, again.warnings, err == nil && !again.contradicted
	}
}
