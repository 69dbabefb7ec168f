package batch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/fiscope/fiscope/internal/broken"
)

// run is a batch under way. It lives in the goroutine of the consumer's loop; only the queries have
// goroutines of their own.
type run[E any, K comparable, A any] struct {
	Batch[E, K, A]
	ctx    context.Context
	policy Policy
	next   func() (E, bool)
	yield  func(Line[E, A]) bool

	known     *simplelru.LRU[K, known[E, K, A]] // what was asked, for its duplicates
	questions chan *query[E, K, A]              // these two have room for all: nobody waits to send
	answers   chan *query[E, K, A]
	asking    sync.WaitGroup
	workers   int                        // goroutines that ask
	broken    atomic.Pointer[broken.Off] // how the first of the queries was broken off that was
	underWay  int                        // queries that are asked, or answered and not taken
	pause     pause

	position int         // of the next input
	ended    bool        // there is no next input
	works    bool        // the service answered one
	failures int         // in a row
	stopped  error       // why no more is asked
	stopping atomic.Bool // there is such a reason
	delivered
}

// query is what is asked for an input and its duplicates.
type query[E any, K comparable, A any] struct {
	key      K
	asked    E
	inputs   []input[E] // that wait for the answer; nil once it was delivered
	answered bool
	answer   A
	err      error
}

// known is what is remembered of a query.
type known[E any, K comparable, A any] struct {
	query  *query[E, K, A] // nil where it was answered without an error
	packed string          // its answer, once there is one
}

type input[E any] struct {
	position int
	value    E
	valid    bool // it has a key
}

// loop turns inputs into queries and queries into lines, one of each in turn, so that the consumer's
// pace is that of the queries.
func (b *run[E, K, A]) loop() {
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
		var q *query[E, K, A]
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
			if b.ended && b.low == b.position && !b.tooMany() && errors.Is(b.stopped, b.ctx.Err()) {
				b.stopped = nil // all was delivered before the context ended
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
func (b *run[E, K, A]) room() bool {
	limit := b.policy.Concurrency
	if !b.works {
		limit = 1
	}
	return !b.ended && b.underWay < limit && b.position-b.low < b.policy.Window && b.stopped == nil
}

// stop ends the batch, unless err is nil. The first reason counts.
func (b *run[E, K, A]) stop(err error) {
	b.stopped = cmp.Or(b.stopped, err)
	b.stopping.Store(b.stopped != nil)
}

// read takes one input, and asks for it unless the same was asked before, here or by another run. It returns false
// when the consumer has enough.
func (b *run[E, K, A]) read() bool {
	value, more := b.next()
	if !more {
		b.ended = true
		return true
	}
	key, valid := b.Key(value)
	in := input[E]{b.position, value, valid}
	b.position++
	remembers := valid && b.policy.Memory > 0
	if remembers {
		if known, there := b.known.Get(key); there {
			return b.repeat(in, known)
		}
	}
	if valid && b.Done != nil {
		done, err := b.Done(key)
		if b.stop(err); err != nil {
			return true
		}
		if done {
			b.add(in.position)
			return true
		}
	}
	q := &query[E, K, A]{key: key, asked: value, inputs: []input[E]{in}}
	if remembers {
		b.known.Add(key, known[E, K, A]{query: q})
	}
	b.underWay++
	b.questions <- q
	if b.underWay > b.workers {
		b.workers++
		b.asking.Go(b.work)
	}
	return true
}

// work asks what is to be asked. A goroutine that asks for many has grown its stack once.
func (b *run[E, K, A]) work() {
	for q := range b.questions {
		broken.Run(func() { q.answer, q.err = b.ask(q.asked) }, func(off *broken.Off) {
			if off != nil {
				b.broken.CompareAndSwap(nil, off)
			}
			b.answers <- q
		})
	}
}

// repeat delivers what is known to an input, or makes it wait for that. It returns false when the consumer has
// enough.
func (b *run[E, K, A]) repeat(in input[E], of known[E, K, A]) bool {
	switch q := of.query; {
	case q == nil:
		return b.deliver(in, b.Unpack(of.packed), nil, true)
	case q.answered:
		return b.deliver(in, b.Unpack(of.packed), q.err, true)
	default:
		q.inputs = append(q.inputs, in)
		return true
	}
}

// remember keeps an answer for duplicates that come later, if it may be kept.
func (b *run[E, K, A]) remember(q *query[E, K, A], keep bool) {
	known, there := b.known.Peek(q.key)
	switch {
	case !there || known.query != q:
		return
	case !keep:
		b.known.Remove(q.key)
		return
	case q.err == nil:
		known.query = nil
	}
	known.packed = b.Pack(q.answer)
	b.known.Add(q.key, known)
}

// take delivers an answer to all inputs that wait for it. It returns false when the consumer has enough.
func (b *run[E, K, A]) take(q *query[E, K, A]) bool {
	b.underWay--
	verdict := b.Judge(q.answer, q.err)
	b.works = b.works || verdict.Works
	b.remember(q, verdict.Keep)
	interruption := b.ctx.Err()
	b.stop(interruption)
	unasked := verdict.Stop || verdict.StopAlone && !b.works || verdict.Waits
	if q.err != nil && (unasked || interruption != nil && errors.Is(q.err, interruption)) {
		b.stop(q.err) // as all that follow would, or it has stopped: it is not delivered, and another run begins with it
		return true
	}
	b.count(q, verdict)
	inputs, packed, answer := q.inputs, "", q.answer
	if len(inputs) > 1 {
		packed = b.Pack(answer)
	}
	var none A
	q.answered, q.inputs, q.answer = true, nil, none
	for i, in := range inputs {
		if i > 0 {
			answer = b.Unpack(packed)
		}
		if !b.deliver(in, answer, q.err, i > 0) {
			return false
		}
		if i == 0 && verdict.Record && in.valid && b.Record != nil {
			b.stop(b.Record(q.key))
		}
	}
	return true
}

// count stops the batch after too many failures in a row: a service that is down, or another in its
// place, must not be asked a million times.
func (b *run[E, K, A]) count(q *query[E, K, A], verdict Verdict) {
	switch {
	case verdict.Keep && !verdict.Works, verdict.Local:
	case verdict.Works && b.tooMany(): // those that stopped it are asked again
	case verdict.Works:
		b.failures = 0
		b.answered(q.inputs[0].position)
	default:
		for _, in := range q.inputs {
			b.fail(in.position)
		}
		if b.failures++; b.tooMany() {
			b.stop(cmp.Or(q.err, verdict.Failure))
		}
	}
}

// tooMany reports whether failures in a row have stopped the batch.
func (b *run[E, K, A]) tooMany() bool {
	return b.policy.MaxFailures > 0 && b.failures >= b.policy.MaxFailures
}

func (b *run[E, K, A]) deliver(in input[E], answer A, err error, repeated bool) bool {
	b.add(in.position)
	return b.yield(Line[E, A]{Position: in.position, Input: in.value, Answer: answer, Err: err, Repeated: repeated, Next: b.resume()})
}

// delivered knows which positions were delivered.
type delivered struct {
	low    int              // the lowest that was not
	above  map[int]struct{} // those above it that were
	failed []int            // failures after which no input beyond them was answered, the lowest first
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

// fail takes note of a failure. They come nearly in order.
func (d *delivered) fail(position int) {
	i, _ := slices.BinarySearch(d.failed, position)
	d.failed = slices.Insert(d.failed, i, position)
}

// answered takes note of an answer: what failed before its input failed by itself.
func (d *delivered) answered(position int) {
	i, _ := slices.BinarySearch(d.failed, position)
	d.failed = d.failed[i:]
}

// resume returns where another run goes on.
func (d *delivered) resume() int {
	if len(d.failed) == 0 {
		return d.low
	}
	return min(d.low, d.failed[0])
}
