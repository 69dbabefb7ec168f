package batch

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/fiscope/fiscope/internal/broken"
)

// run is a batch under way. It lives in the goroutine of the consumer's loop; only the queries have
// goroutines of their own.
type run[E any, K comparable, R any] struct {
	Batch[E, K, R]
	ctx    context.Context
	policy Policy
	next   func() (E, bool)
	yield  func(Line[E, R]) bool

	known    *simplelru.LRU[K, *known[E, K, R]] // what was asked, for its duplicates
	answers  chan *query[E, K, R]               // has room for all: nobody waits to send
	asking   sync.WaitGroup
	broken   atomic.Pointer[broken.Off] // how the first of the queries was broken off that was
	underWay int                        // queries that are asked, or answered and not taken
	pause    pause

	position int   // of the next input
	ended    bool  // there is no next input
	first    bool  // the first query was answered
	failures int   // in a row
	stopped  error // why no more is asked
	delivered
}

// query is what is asked for an input and its duplicates.
type query[E any, K comparable, R any] struct {
	key      K
	inputs   []input[E] // that wait for the answer; nil once it was delivered
	answered bool
	result   *R
	err      error
}

// known is what is remembered of a query.
type known[E any, K comparable, R any] struct {
	query  *query[E, K, R] // nil where its result is packed
	packed string
}

type input[E any] struct {
	position int
	value    E
}

// loop turns inputs into queries and queries into lines, one of each in turn, so that the consumer's
// pace is that of the queries.
func (b *run[E, K, R]) loop() {
	for ; b.position < b.policy.From && !b.ended && b.ctx.Err() == nil; b.position++ {
		_, more := b.next()
		b.ended = !more
	}
	for {
		b.stop(b.ctx.Err())
		if b.room() && !b.read() {
			b.stopped = nil // the consumer has enough
			return
		}
		var q *query[E, K, R]
		switch {
		case b.room():
			select {
			case q = <-b.answers:
			default:
				continue
			}
		case b.underWay > 0:
			q = <-b.answers
		default:
			if b.ended && b.low == b.position {
				b.stopped = nil // all was delivered
			}
			return
		}
		if b.broken.Load() != nil {
			return
		}
		if !b.take(q) {
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
	return !b.ended && b.underWay < limit && b.position-b.low < Window && b.stopped == nil
}

// stop ends the batch, unless err is nil. The first reason counts.
func (b *run[E, K, R]) stop(err error) { b.stopped = cmp.Or(b.stopped, err) }

// read takes one input, and asks for it unless the same was asked before. It returns false when the
// consumer has enough.
func (b *run[E, K, R]) read() bool {
	value, more := b.next()
	if !more {
		b.ended = true
		return true
	}
	in := input[E]{b.position, value}
	b.position++
	key, ok := b.Key(value)
	if ok = ok && b.policy.Memory > 0; ok {
		if known, there := b.known.Get(key); there {
			return b.repeat(in, known)
		}
	}
	q := &query[E, K, R]{key: key, inputs: []input[E]{in}}
	if ok {
		b.known.Add(key, &known[E, K, R]{query: q})
	}
	b.underWay++
	b.asking.Go(func() {
		broken.Run(func() { q.result, q.err = b.ask(value) }, func(off *broken.Off) {
			if off != nil {
				b.broken.CompareAndSwap(nil, off)
			}
			b.answers <- q
		})
	})
	return true
}

// repeat delivers what is known to an input, or makes it wait for that. It returns false when the consumer has
// enough.
func (b *run[E, K, R]) repeat(in input[E], of *known[E, K, R]) bool {
	switch q := of.query; {
	case q == nil:
		return b.deliver(in, b.Unpack(of.packed), nil, true)
	case q.answered:
		return b.deliver(in, q.result, q.err, true)
	default:
		q.inputs = append(q.inputs, in)
		return true
	}
}

// remember keeps an answer for duplicates that come later, if it may be kept.
func (b *run[E, K, R]) remember(q *query[E, K, R], keep bool) {
	known, there := b.known.Peek(q.key)
	switch {
	case !there || known.query != q:
	case !keep:
		b.known.Remove(q.key)
	case q.err == nil && b.Pack != nil:
		known.query, known.packed = nil, b.Pack(q.result)
	}
}

// take delivers an answer to all inputs that wait for it. It returns false when the consumer has enough.
func (b *run[E, K, R]) take(q *query[E, K, R]) bool {
	b.underWay--
	b.first = true
	verdict := b.Judge(q.err)
	b.remember(q, verdict.Keep)
	interruption := b.ctx.Err()
	b.stop(interruption)
	if q.err != nil && (verdict.Stop || interruption != nil && errors.Is(q.err, interruption)) {
		b.stop(q.err) // as all that follow would: it is not delivered, and another run begins with it
		return true
	}
	b.count(q.err, verdict)
	q.answered = true
	inputs := q.inputs
	q.inputs = nil
	for i, in := range inputs {
		if !b.deliver(in, q.result, q.err, i > 0) {
			return false
		}
	}
	return true
}

// count stops the batch after too many failures in a row: a service that is down, or another in its
// place, must not be asked a million times.
func (b *run[E, K, R]) count(err error, verdict Verdict) {
	switch {
	case verdict.Keep:
		b.failures = 0
	case verdict.Local:
	default:
		if b.failures++; b.failures == b.policy.MaxFailures {
			b.stop(err)
		}
	}
}

func (b *run[E, K, R]) deliver(in input[E], result *R, err error, repeated bool) bool {
	b.add(in.position)
	return b.yield(Line[E, R]{Position: in.position, Input: in.value, Result: result, Err: err, Repeated: repeated, Next: b.low})
}

// delivered knows which positions were delivered.
type delivered struct {
	low   int              // the lowest that was not
	above map[int]struct{} // those above it that were
}

func (d *delivered) add(position int) {
	d.above[position] = struct{}{}
	for {
		if _, ok := d.above[d.low]; !ok {
			return
		}
		delete(d.above, d.low)
		d.low++
	}
}
