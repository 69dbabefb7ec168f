package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// run is a batch under way. It lives in the goroutine of the consumer's loop; only the queries have their own. Its
// methods that return a bool return false if the consumer broke out of the loop.
type run[E, A any] struct {
	Batch[E, A]
	ctx    context.Context
	policy Policy
	next   func() (E, bool)
	yield  func(Line[E, A]) bool

	known    *simplelru.LRU[string, *query[E, A]] // queries made, for duplicates
	answers  chan *query[E, A]                    // has room for all: sending never blocks
	asking   sync.WaitGroup
	underWay int            // queries sent and not handled yet
	position int            // of the next input
	ended    bool           // there is no next input
	works    bool           // the service answers; until then queries go one at a time
	stopped  error          // why no more queries are made; nil while they are
	held     []*query[E, A] // failures to deliver once another input is answered
	again    []*query[E, A] // queries to repeat, before any other

	failures   int              // consecutive failures
	failedFrom int              // the lowest position of those delivered
	low        int              // the lowest undelivered position
	above      map[int]struct{} // delivered positions above it

	away  time.Time     // since when the batch has paused; zero if it has not
	until time.Time     // when to probe with one input
	pause time.Duration // before the next probe
}

// query is the query for an input and its duplicates.
type query[E, A any] struct {
	key       string
	valid     bool // it has a key
	value     E
	positions []int // positions waiting for the answer
	alone     bool  // it probes while the batch pauses
	tries     int   // failures other than as a probe
	delivered bool
	answer    A
	err       error
	verdict   Verdict
}

// loop turns inputs into queries and queries into lines, one of each in turn, so that the consumer's pace limits the
// queries.
func (b *run[E, A]) loop() {
	for more := true; more; {
		b.stop(b.ctx.Err())
		ready, limit := len(b.again) > 0 || b.canRead(), 1
		if b.works {
			limit = b.policy.Concurrency
		}
		switch pause := time.Until(b.until); {
		case b.stopped == nil && ready && pause <= 0 && b.underWay < limit:
			if more = b.ask(); more && len(b.answers) > 0 {
				more = b.handle(<-b.answers)
			}
		case b.underWay > 0:
			more = b.handle(<-b.answers)
		case b.stopped == nil && ready && pause > 0:
			select {
			case <-time.After(pause):
			case <-b.ctx.Done():
			}
		case b.stopped == nil && len(b.held) > 0: // no other answer will come
			more = b.release()
		default:
			if b.ended && b.low == b.position && b.stopped == b.ctx.Err() { //nolint:errorlint // it is the very one
				b.stopped = nil // everything was delivered before the context ended
			}
			return
		}
	}
	b.stopped = nil // the consumer broke out of the loop
}

func (b *run[E, A]) canRead() bool { return !b.ended && b.position-b.low < window }

// stop ends the batch, unless err is nil. The first reason wins.
func (b *run[E, A]) stop(err error) {
	if b.stopped == nil {
		b.stopped = err
	}
}

// stopProgress ends the batch if Done or Record failed.
func (b *run[E, A]) stopProgress(err error) {
	if err != nil {
		b.stop(fmt.Errorf("its Progress failed: %w", err))
	}
}

// ask repeats a failed query, or reads the next input. A few inputs that always fail must not look like an outage:
// after three failed probes it alternates between the two.
func (b *run[E, A]) ask() bool {
	if len(b.again) == 0 || b.pause > 4*time.Second && b.failures%2 == 0 && b.canRead() {
		return b.read()
	}
	q := b.again[0]
	b.again = b.again[1:]
	b.send(q)
	return true
}

// read takes one input and asks for it, unless it was asked before, here or by another run.
func (b *run[E, A]) read() bool {
	value, more := b.next()
	if !more {
		b.ended = true
		return true
	}
	if b.position++; b.position <= b.policy.From {
		return true
	}
	key, invalid := b.Key(value)
	q := &query[E, A]{key: key, valid: invalid == nil, value: value, positions: []int{b.position - 1}}
	if !q.valid {
		b.send(q)
		return true
	}
	if first, there := b.known.Get(key); there {
		first.positions = append(first.positions, q.positions[0])
		return !first.delivered || b.deliver(first, true)
	}
	if b.Done != nil {
		done, err := b.Done(key)
		if b.stopProgress(err); err != nil {
			return true
		}
		if done {
			b.markDone(q.positions[0])
			return true
		}
	}
	b.known.Add(key, q)
	b.send(q)
	return true
}

// send asks for an input in a goroutine of its own. It always delivers an answer, even if Ask panics or calls
// runtime.Goexit.
func (b *run[E, A]) send(q *query[E, A]) {
	b.underWay++
	q.alone = !b.away.IsZero()
	b.asking.Go(func() {
		returned := false
		defer func() {
			if !returned {
				q.err = b.Panicked(recover())
			}
			b.answers <- q
		}()
		q.answer, q.err = b.Ask(b.ctx, q.value)
		returned = true
	})
}

// handle delivers an answer, unless its input is to be asked again.
func (b *run[E, A]) handle(q *query[E, A]) bool {
	b.underWay--
	q.verdict = b.Judge(q.answer, q.err)
	interruption := b.ctx.Err()
	b.stop(interruption)
	switch v := q.verdict; {
	case v.Outcome == Stop, v.Outcome == StopFirst && !b.works, interruption != nil && errors.Is(q.err, interruption):
		b.stop(cmp.Or(q.err, v.Fallback)) // it is not delivered: another run begins with it
		return true
	case v.Outcome == Again:
		b.again = append(b.again, q)
		return true
	case v.Outcome == Aside, v.Outcome == Answered && !b.away.IsZero() && !q.alone: // it was sent before the pause
		return b.deliver(q, false)
	case v.Outcome != Answered:
		return b.fail(q)
	}
	b.works, b.failures, b.failedFrom = true, 0, math.MaxInt
	b.away, b.until, b.pause = time.Time{}, time.Time{}, 0
	return b.deliver(q, false) && b.release()
}

// release delivers the failures that were held.
func (b *run[E, A]) release() bool {
	for len(b.held) > 0 {
		q := b.held[0]
		b.held = b.held[1:]
		if !b.deliver(q, false) {
			return false
		}
	}
	return true
}

// fail records a failure. If a pause may help, the query is kept until another input is answered or it is repeated.
func (b *run[E, A]) fail(q *query[E, A]) bool {
	v, most, waits := q.verdict, b.policy.MaxFailures, !b.away.IsZero()
	if b.failures++; !q.alone {
		q.tries++
	}
	limit := tries
	if b.ended && v.Outcome != TooFast {
		limit = 2 // no other input will show whether it alone fails
	}
	keeps := !v.Once && q.tries < limit && (v.Outcome == TooFast || v.Fallback == nil && most > 0 && (v.Outcome == Away || waits))
	switch {
	case waits, v.Outcome == TooFast && keeps, v.Outcome == Away && most > 0 && b.failures >= min(several, most):
		b.wait(q)
	case most > 0 && b.failures >= most:
		b.stop(cmp.Or(q.err, v.Fallback))
	}
	switch {
	case !keeps && !v.Once:
		b.failedFrom = min(b.failedFrom, q.positions[0])
		return b.deliver(q, false)
	case !keeps:
		return b.deliver(q, false)
	case b.away.IsZero():
		b.held = append(b.held, q)
	default:
		b.again = append(b.again, q)
	}
	return true
}

// wait pauses the batch: first for a second, and twice as long after each probe that fails. It stops the batch after
// patience.
func (b *run[E, A]) wait(q *query[E, A]) {
	now := time.Now()
	switch {
	case b.away.IsZero():
		b.away, b.pause, b.works = now, time.Second, false
		b.again, b.held = append(b.again, b.held...), nil
	case q.alone:
		b.pause = min(2*b.pause, time.Minute)
	}
	left := patience - now.Sub(b.away)
	if left <= 0 {
		b.stop(cmp.Or(q.err, q.verdict.Fallback))
	}
	if until := now.Add(min(max(b.pause, q.verdict.After), left)); until.After(b.until) {
		b.until = until
	}
}

// deliver delivers an answer to the positions that wait for it, and records it.
func (b *run[E, A]) deliver(q *query[E, A], repeated bool) bool {
	v, positions, answer := q.verdict, q.positions, q.answer
	q.delivered, q.positions, q.answer = true, nil, b.Copy(answer)
	if known, _ := b.known.Peek(q.key); known == q && v.Outcome != Answered && v.Outcome != Aside && !v.Once {
		b.known.Remove(q.key) // a later duplicate asks again
	}
	for _, position := range positions {
		b.markDone(position)
		if !b.yield(Line[E, A]{Position: position, Input: q.value, Answer: answer, Err: q.err, Repeated: repeated, Next: b.resume()}) {
			return false
		}
		if !repeated && q.valid && b.Record != nil {
			b.stopProgress(b.Record(q.key, q.answer, q.err, v.Final))
		}
		repeated, answer = true, b.Copy(q.answer)
	}
	return true
}

// markDone marks a position as delivered or skipped.
func (b *run[E, A]) markDone(position int) {
	b.above[position] = struct{}{}
	for {
		if _, ok := b.above[b.low]; !ok {
			return
		}
		delete(b.above, b.low)
		b.low++
	}
}

// resume returns where another run resumes.
func (b *run[E, A]) resume() int { return min(b.low, b.failedFrom) }
