package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Window is the farthest that a batch reads ahead of the lowest position that is not delivered.
const Window = 1000

// run is a batch under way. It lives in the goroutine of the consumer's loop; only the queries have
// goroutines of their own.
type run[E any, K comparable, R any] struct {
	Batch[E, K, R]
	ctx    context.Context
	policy Policy
	next   func() (E, bool)
	yield  func(Line[E, R]) bool

	known    *simplelru.LRU[K, *question[E, K, R]]
	landed   chan *question[E, K, R] // has room for all: nobody waits to send
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

// question is one query, for an input and its duplicates.
type question[E any, K comparable, R any] struct {
	key      K
	waiting  []waiter[E] // nil once it is answered
	answered bool
	result   *R
	err      error
}

type waiter[E any] struct {
	position int
	input    E
}

// loop turns inputs into queries and queries into lines, one of each in turn, so that the consumer's
// pace is that of the queries.
func (b *run[E, K, R]) loop() {
	for ; b.position < b.policy.From && !b.dry && !b.interrupted(); b.position++ {
		_, more := b.next()
		b.dry = !more
	}
	for {
		if b.room() && !b.read() {
			b.stopped = nil
			return
		}
		var q *question[E, K, R]
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
			if b.dry && b.low == b.position {
				b.stopped = nil // all was delivered
			}
			return
		}
		if !b.land(q) {
			b.stopped = nil // the consumer has enough
			return
		}
	}
}

// room reports whether another input can be read.
func (b *run[E, K, R]) room() bool {
	limit := b.policy.Concurrency
	if !b.first {
		limit = 1
	}
	return !b.dry && b.aloft < limit && b.position-b.low < Window && !b.interrupted() && b.stopped == nil
}

func (b *run[E, K, R]) interrupted() bool {
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
func (b *run[E, K, R]) read() bool {
	input, more := b.next()
	if !more {
		b.dry = true
		return true
	}
	p := waiter[E]{b.position, input}
	b.position++
	key, ok := b.Key(input)
	if ok = ok && b.policy.Memory > 0; ok {
		if q, known := b.known.Get(key); known {
			if q.answered {
				return b.deliver(p, q, true)
			}
			q.waiting = append(q.waiting, p)
			return true
		}
	}
	q := &question[E, K, R]{key: key, waiting: []waiter[E]{p}}
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
func (b *run[E, K, R]) land(q *question[E, K, R]) bool {
	b.aloft--
	b.first = true
	says := b.Judge(q.err)
	if !says.Keep {
		if known, ok := b.known.Peek(q.key); ok && known == q {
			b.known.Remove(q.key)
		}
	}
	if b.ends(q.err, says) {
		return true
	}
	b.count(q.err, says)
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

// ends reports whether an input's error is that of all which follow, and stops the batch then. An
// answer that came before the context ended is delivered.
func (b *run[E, K, R]) ends(err error, says Judgement) bool {
	if err == nil || !says.Stop && !(b.interrupted() && errors.Is(err, b.ctx.Err())) {
		return false
	}
	b.stopped = cmp.Or(b.stopped, err)
	return true
}

// count stops the batch after too many failures in a row: a service that is down, or another in its
// place, must not be asked a million times.
func (b *run[E, K, R]) count(err error, says Judgement) {
	switch {
	case says.Keep:
		b.failures = 0
	case says.Local:
	default:
		if b.failures++; b.failures == b.policy.MaxFailures {
			b.stopped = cmp.Or(b.stopped, err)
		}
	}
}

func (b *run[E, K, R]) deliver(p waiter[E], q *question[E, K, R], repeated bool) bool {
	b.delivered(p.position)
	return b.yield(Line[E, R]{Position: p.position, Input: p.input, Result: q.result, Err: q.err, Repeated: repeated, Next: b.low})
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
