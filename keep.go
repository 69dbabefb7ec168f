package fiscope

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/charset"
	"github.com/fiscope/fiscope/internal/roundtrip"
)

// keep stores the answer of a query, in this process and in the Store. It first checks both again: the answer may have
// come since recall.
func keep(k keeper) layer {
	if k.cache == nil {
		return nil
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			if e := k.recall(ctx, q); e != nil {
				return &e.answer, nil
			}
			a, err := next(ctx, q)
			if err == nil {
				k.remember(ctx, q, a)
			}
			return a, err
		}
	}
}

type keeper struct {
	*cache              // nil for none
	shared *sharedStore // nil for none
	report *reporter
}

// remember stores a result or a NOT_FOUND (with status 200 or 404), unless lenient reading accepted a contradiction.
func (k keeper) remember(ctx context.Context, q *question, a *answer) {
	if a.lenient || a.Broken != nil || a.outcome != found && !(a.outcome == notFound && (a.Status == http.StatusOK || a.Status == http.StatusNotFound)) {
		return
	}
	lifetime := q.input.lifetime(k.policy, a.result, a.asOf)
	if lifetime <= 0 {
		return
	}
	a.shared = true
	k.put(q.key, newEntry(a, a.asOf, lifetime))
	k.save(ctx, q, a, lifetime)
}

// storedAnswer is an answer in the Store. It has the service's own body, so that each process checks it again.
type storedAnswer struct {
	Status  int       `json:"status"`
	Asked   time.Time `json:"asked"`
	Stored  time.Time `json:"stored"`
	Expires time.Time `json:"expires,omitzero"` // zero for never
	Body    string    `json:"body"`
}

// longestStored is the longest lifetime in the Store.
const longestStored = 400 * 24 * time.Hour

// save writes an answer to the Store in the background, unless it repeats a secret of its call.
func (k keeper) save(ctx context.Context, q *question, a *answer, lifetime time.Duration) {
	if k.shared == nil || q.secrets.Verbatim(a.Body) {
		return
	}
	s := storedAnswer{Status: a.Status, Asked: a.Began, Stored: k.clock.toReal(a.asOf), Body: string(charset.UTF8(a.Body))}
	ttl := longestStored
	if lifetime < forGood {
		s.Expires = k.clock.toReal(a.asOf.Add(lifetime))
		ttl = min(ttl, lifetime+min(ttl, max(0, k.policy.StaleIfError)))
	}
	value, _ := json.Marshal(s) // texts and times always marshal
	name := k.shared.name("answer", q.key.parts()...)
	k.shared.write(ctx, func(ctx context.Context) error { return k.shared.store.Save(ctx, name, value, ttl) })
}

// recall returns a fresh answer from this process or the Store; nil if there is none, or if the call wants a new one. A
// stale one of the Store stays in the cache.
func (k keeper) recall(ctx context.Context, q *question) *entry {
	if q.set.fresh {
		return nil
	}
	if e := k.fresh(q.key); e != nil || k.cache == nil || k.shared == nil {
		return e
	}
	value := k.shared.load(ctx, k.shared.name("answer", q.key.parts()...))
	if e := k.load(q, value); e != nil {
		k.put(q.key, e)
	}
	return k.fresh(q.key)
}

// stale is the source of kept results while the service is away, also of the Store's that recall has put into the cache.
type stale struct{ keeper }

func (s stale) may(q *question) bool {
	return !q.set.fresh && (s.inOutage(q.key) != nil || s.cache != nil && s.shared != nil && s.policy.StaleIfError > 0)
}

func (s stale) find(_ context.Context, q *question) *answer {
	e := s.inOutage(q.key)
	if e == nil || q.set.fresh {
		return nil
	}
	a := e.answer
	if !e.fresh(s.clock) {
		a.source = SourceStale
	}
	return &a
}

// load reads a stored answer; nil if it is unusable. It is fresh for the shorter of the writer's lifetime and ours.
func (k keeper) load(q *question, value []byte) *entry {
	var s storedAnswer
	if json.Unmarshal(value, &s) != nil || s.Stored.After(time.Now().Add(clockSkew)) {
		return nil
	}
	a := &answer{Answer: roundtrip.Answer{Status: s.Status, Body: []byte(s.Body), Began: s.Asked}}
	a.reading.secrets, a.reading.now = k.report.secrets, k.clock.now()
	if a.read(q.input.read); a.outcome != found && a.outcome != notFound {
		return nil
	}
	stored := k.clock.fromReal(s.Stored)
	lifetime := q.input.lifetime(k.policy, a.result, stored)
	if !s.Expires.IsZero() {
		lifetime = min(lifetime, s.Expires.Sub(s.Stored), forGood-1)
	}
	if lifetime <= 0 {
		return nil
	}
	return newEntry(a, stored, lifetime)
}
