package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The farthest that a batch reads ahead of the lowest position that is not delivered.
const loteWindow = 1000

// tanda is a batch under way. It lives in the goroutine of the consumer's loop; only the queries have
// goroutines of their own.
type tanda[E any, K comparable, R any] struct {
	lote[E, K, R]
	ctx    context.Context
	policy LotePolicy // complete
	next   func() (E, bool)
	yield  func(DeLote[E, R], error) bool

	known    *simplelru.LRU[K, *pregunta[E, K, R]]
	landed   chan *pregunta[E, K, R] // has room for all: nobody waits to send
	flying   sync.WaitGroup
	calm     calm
	position int  // of the next input
	aloft    int  // queries under way, or landed and not taken
	first    bool // the first query landed
	dry      bool // the inputs ended
	failures int  // in a row
	stopped  error
	advance
}

// pregunta is one query, for an input and its duplicates.
type pregunta[E any, K comparable, R any] struct {
	key      K
	waiting  []parada[E] // nil once it is answered
	answered bool
	result   *R
	err      error
}

type parada[E any] struct {
	position int
	input    E
}

// run turns inputs into queries and queries into lines, one of each in turn, so that the consumer's
// pace is that of the queries.
func (b *tanda[E, K, R]) run() {
	for ; b.position < b.policy.From && !b.dry && !b.interrupted(); b.position++ {
		_, more := b.next()
		b.dry = !more
	}
	for {
		if b.room() && !b.read() {
			return
		}
		var q *pregunta[E, K, R]
		switch {
		case b.room():
			select {
			case q = <-b.landed:
			default:
				continue
			}
		case b.aloft > 0:
			q = <-b.landed
		default:
			if b.stopped != nil && !(b.dry && b.low == b.position) {
				b.yield(DeLote[E, R]{Posicion: b.low, Siguiente: b.low}, &LoteDetenido{b.low, b.stopped})
			}
			return
		}
		if !b.land(q) {
			return
		}
	}
}

// room reports whether another input can be read.
func (b *tanda[E, K, R]) room() bool {
	limit := b.policy.Concurrency
	if !b.first {
		limit = 1
	}
	return !b.dry && b.aloft < limit && b.position-b.low < loteWindow && !b.interrupted() && b.stopped == nil
}

func (b *tanda[E, K, R]) interrupted() bool {
	err := b.ctx.Err()
	if err == nil {
		return false
	}
	if cause := context.Cause(b.ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	b.stopped = cmp.Or(b.stopped, err)
	return true
}

// read takes one input. It returns false when the consumer has enough.
func (b *tanda[E, K, R]) read() bool {
	input, more := b.next()
	if !more {
		b.dry = true
		return true
	}
	p := parada[E]{b.position, input}
	b.position++
	key, ok := b.key(input)
	if ok = ok && b.policy.Memory > 0; ok {
		if q, known := b.known.Get(key); known {
			if q.answered {
				return b.deliver(p, q, true)
			}
			q.waiting = append(q.waiting, p)
			return true
		}
	}
	q := &pregunta[E, K, R]{key: key, waiting: []parada[E]{p}}
	if ok {
		b.known.Add(key, q)
	}
	b.aloft++
	b.flying.Go(func() {
		q.result, q.err = b.askCalmly(input)
		b.landed <- q
	})
	return true
}

// land delivers an answer to all who wait for it. It returns false when the consumer has enough.
func (b *tanda[E, K, R]) land(q *pregunta[E, K, R]) bool {
	b.aloft--
	b.first = true
	if !b.keeps(q.err) {
		if known, ok := b.known.Peek(q.key); ok && known == q {
			b.known.Remove(q.key)
		}
	}
	if b.ends(q.err) {
		return true
	}
	b.count(q.err)
	q.answered = true
	waiting := q.waiting
	q.waiting = nil
	for i, p := range waiting {
		if !b.deliver(p, q, i > 0) {
			return false
		}
	}
	return true
}

// keeps reports whether an answer serves later duplicates too.
func (b *tanda[E, K, R]) keeps(err error) bool { return err == nil || errors.Is(err, ErrNotFound) }

// ends reports whether an input's error is that of all which follow, and stops the batch then. An
// answer that came before the context ended is delivered.
func (b *tanda[E, K, R]) ends(err error) bool {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return false
	case b.interrupted() && errors.Is(e, b.ctx.Err()):
	case errors.Is(e, ErrInvalidSOLCredentials), errors.Is(e, ErrUnauthorized):
	case errors.Is(e, ErrQuotaExceeded) && !throttled(e):
	default:
		return false
	}
	b.stopped = cmp.Or(b.stopped, err)
	return true
}

// count stops the batch after too many failures in a row: a service that is down, or another in its
// place, must not be asked a million times.
func (b *tanda[E, K, R]) count(err error) {
	var e *Error
	switch {
	case err == nil, errors.Is(err, ErrNotFound):
		b.failures = 0
	case errors.As(err, &e) && errors.Is(e, ErrInvalidRequest) && e.Delivery == NotSent: // says nothing of the service
	default:
		if b.failures++; b.failures == b.policy.MaxFailures {
			b.stopped = cmp.Or(b.stopped, err)
		}
	}
}

func (b *tanda[E, K, R]) deliver(p parada[E], q *pregunta[E, K, R], repeated bool) bool {
	b.delivered(p.position)
	line := DeLote[E, R]{Posicion: p.position, Entrada: p.input, Repetido: repeated, Siguiente: b.low}
	if q.err != nil {
		return b.yield(line, copyError(q.err))
	}
	own := *q.result
	line.Resultado = &own
	return b.yield(line, nil)
}

// advance knows the lowest position that is not delivered.
type advance struct {
	low  int
	done map[int]struct{} // the positions above it that are
}

func (a *advance) delivered(position int) {
	a.done[position] = struct{}{}
	for {
		if _, ok := a.done[a.low]; !ok {
			return
		}
		delete(a.done, a.low)
		a.low++
	}
}
