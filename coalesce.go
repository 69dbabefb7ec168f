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

// shared is what a query brought, or has brought so far, for all who share it. It is not changed: each
// caller gets copies.
type shared struct {
	call  call   // as it stood
	entry *entry // what serves; nil where err is not
	kept  bool   // it was there before the query
	err   error
}

// ask is the path of a question.
func ask[T any, Q question[T]](ctx context.Context, a *asker, q Q, opts []CallOption) (T, error) {
	k := q.key()
	return hooked(ctx, a.hook, k.op, a.defaults.of(opts), func(ctx context.Context, s *settings) (T, error) {
		return askWith(ctx, a, q, k, s)
	})
}

// askWith is ask within the client's hook. k is the question's key: whoever knows Q has it for nothing, and here it
// would be a fifteenth of a hit.
func askWith[T any, Q question[T]](ctx context.Context, a *asker, q Q, k cacheKey, s *settings) (T, error) {
	if a.queries == nil || ctx == nil || ctx.Err() != nil || s.invalid != nil {
		return send(ctx, a.sender, q, s)
	}
	if !s.fresh {
		if e := a.cache.get(k); e.serves(a.clock) {
			return serve(ctx, a, q, e, s)
		}
	}
	if q.request().invalid != nil { // what can only be refused waits for nothing
		return send(ctx, a.sender, q, s)
	}
	return join(ctx, a, q, s)
}

// serve gives a caller its own copy of what is in the cache.
func serve[T any, Q question[T]](ctx context.Context, a *asker, q Q, e *entry, s *settings) (T, error) {
	var err error
	if e.missing != nil {
		err = e.missing.again(q.key().op, e.asked)
	}
	e.answered.Add(1)
	if a.observer.watching() {
		a.observer.event(ctx, Event{Op: q.key().op, Avoided: AvoidedCached, Err: err, Warnings: e.warnings})
	}
	if s.response != nil {
		*s.response = e.response(a.clock)
	}
	if s.instead != nil && e.instead != nil {
		*s.instead = copyError(e.instead)
	}
	if err != nil {
		var none T
		return none, err
	}
	return q.copy(e.value.(T)), nil
}

// join takes part in the query that is under way for a question, or begins it.
func join[T any, Q question[T]](ctx context.Context, a *asker, q Q, s *settings) (result T, err error) {
	start := time.Now()
	deadline, _ := ctx.Deadline() // the query's context has none
	got, first, err := a.queries.Join(ctx, sharedQuery{q.key(), s.reserve, s.fresh}, func(ctx context.Context, tell coalesce.Tell[*shared]) *shared {
		began := *s
		began.deadline = deadline
		return query(ctx, a, q, &began, tell)
	})
	if err != nil {
		got = without(ctx, a, q, s, got, err)
	}
	if got.kept {
		return serve(ctx, a, q, got.entry, s)
	}
	took := time.Since(start)
	e := got.call.avoidance(got.err)
	if e.Duration = took; !first {
		e.Avoided, e.Warnings = AvoidedCoalesced, got.call.answer.warnings
	}
	a.observer.call(ctx, e)
	if s.response != nil {
		*s.response = got.call.response()
		s.response.Duration, s.response.Coalesced = took, !first
	}
	if got.err != nil {
		return result, copyError(got.err)
	}
	return q.copy(got.entry.value.(T)), nil
}

// without is the end of a caller who does not get what the query brings, because of err: the same as if he
// had made it alone, as far as it came.
func without[T any, Q question[T]](ctx context.Context, a *asker, q Q, s *settings, soFar *shared, err error) *shared {
	c := newCall(ctx, a.sender, q.request(), s)
	if soFar != nil {
		c.sent, c.answer = soFar.call.sent, soFar.call.answer
	}
	return &shared{call: *c, err: c.failure(errors.Join(c.answer.Err, err))}
}

// query asks the cache once more, the fleet and then the service, and remembers what it learned.
func query[T any, Q question[T]](ctx context.Context, a *asker, q Q, s *settings, tell coalesce.Tell[*shared]) *shared {
	if a.cache != nil && !s.fresh {
		if e := a.cache.find(ctx, s.deadline, q.key(), readAgain(a, q)); e != nil {
			return &shared{entry: e, kept: true}
		}
	}
	result, c, err := run(ctx, a.sender, q, s, &progress{
		waits: func(soFar *call, wait time.Duration, err error) bool {
			return tell(failed(a, q, s, soFar, soFar.failure(err)), time.Now().Add(wait), false)
		},
		leaves: func(soFar *call, mayBeSent bool) { tell(&shared{call: *soFar}, time.Time{}, mayBeSent) },
	})
	e := &entry{status: c.answer.Status, asked: c.answer.Began, stored: a.clock.now()}
	switch {
	case err == nil:
		e.value, e.warnings = result, c.answer.warnings
		remember(ctx, a, q, e, result, &c.answer)
		return &shared{call: *c, entry: e}
	case errors.Is(err, ErrNotFound):
		e.missing = copyError(err)
		remember(ctx, a, q, e, result, &c.answer)
	}
	return failed(a, q, s, c, err)
}

// failed is a query that failed. While the service cannot be asked, an answer of before may serve.
func failed[T any, Q question[T]](a *asker, q Q, s *settings, c *call, err error) *shared {
	if !s.fresh && cannotBeAsked(err) {
		if e := a.cache.standIn(q.key(), a.clock.now(), err); e != nil {
			return &shared{call: *c, entry: e, kept: true}
		}
	}
	return &shared{call: *c, err: err}
}

// cannotBeAsked reports whether a call failed since the service did not answer, or the quota is spent.
func cannotBeAsked(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrQuotaExceeded)
}

// remember keeps an answer for as long as it may serve, unless lenient reading let a contradiction pass, or
// NOT_FOUND came with the status of another error (docs/contrato.md, 7: it comes with 404).
func remember[T any, Q question[T]](ctx context.Context, a *asker, q Q, e *entry, result T, from *answer) {
	if a.cache == nil || from.contradicted || from.Broken != nil || e.status != http.StatusOK && e.status != http.StatusNotFound {
		return
	}
	lifetime := q.lifetime(a.cache.policy, result, e.missing == nil, e.stored)
	a.cache.keep(ctx, q.key(), e, lifetime, from.Body, readAgain(a, q))
}

// readAgain reads an answer to another process as one to this call: also the NOT_FOUND that it may be, but
// no other error.
func readAgain[T any, Q question[T]](a *asker, q Q) readShared {
	return func(status int, body []byte, stored time.Time) (*entry, time.Duration) {
		again := newAnswer(exchange.Answer{Status: status, Body: body}, a.sender.reading(nil), time.Time{})
		err := again.refusal()
		var result T
		if err == nil {
			result, err = q.read(&again)
		}
		e := &entry{status: status, warnings: again.warnings}
		switch {
		case again.contradicted:
			return nil, 0
		case errors.Is(err, ErrNotFound):
			c := circumstances{op: q.key().op, delivery: DeliveryAnswered, status: status, body: body, secrets: again.reading.secrets()}
			e.missing = c.of(copyError(err))
		case err != nil:
			return nil, 0
		default:
			e.value = result
		}
		return e, q.lifetime(a.cache.policy, result, e.missing == nil, a.clock.fromReal(stored))
	}
}
