package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
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
	queue    []*query[E, A] // inputs that wait since a pause: those that failed, then those that a probe skipped

	failures   int          // since the last answer, of inputs from outside of the queue
	doubts     int          // since the last answer, of the queue
	failedFrom int          // the lowest position of consecutive failures that were delivered
	low        int          // the lowest undelivered position
	above      map[int]bool // delivered positions above it

	away  time.Time     // since when the batch has paused; zero if it has not
	until time.Time     // when to probe with one input
	pause time.Duration // before the next probe
	ahead int           // inputs that it reads: 0 for 1, 8, 64, 512, and then as far as the window
	paced bool          // the service asked for the pause: its first probe repeats the oldest input, alone
	last  bool          // the few inputs left are probed together, and delivered if they fail
}

// query is the query for an input and its duplicates.
type query[E, A any] struct {
	key       string
	valid     bool // it has a key
	value     E
	positions []int // positions waiting for the answer
	queued    bool  // it was the first of the queue
	alone     bool  // it probes while the batch pauses
	tries     int   // failures that count
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
		ready, limit := len(b.queue) > 0 || b.canRead(), 1
		if b.works || b.last {
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

// ask sends the next query: the first of the queue or, if several of these failed since the last answer, a newer input.
// A row of inputs that always fail must not look like an outage: each probe of a pause reads further ahead.
func (b *run[E, A]) ask() bool {
	queued, waiting, start := (b.works || b.paced) && b.doubts < several && len(b.queue) > 0, len(b.queue), time.Now()
	for n := 0; !queued && n < max(1, b.ahead) && b.canRead() && time.Since(start) < time.Second; n++ {
		if !b.read() {
			return false
		}
	}
	at := len(b.queue) - 1
	switch {
	case at < 0:
		return true
	case queued:
		at = 0
	case !b.works && len(b.queue) == waiting: // there is nothing to read
		at = rand.IntN(waiting)
	}
	q := b.queue[at]
	q.queued, b.paced, b.queue = queued, false, slices.Delete(b.queue, at, at+1)
	b.send(q)
	return true
}

// read takes one input into the queue, unless it was asked before, here or by another run.
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
	if first, there := b.known.Get(key); there && q.valid {
		first.positions = append(first.positions, q.positions[0])
		return !first.delivered || b.deliver(first, true)
	}
	if b.Done != nil && q.valid {
		done, err := b.Done(key)
		if b.stopProgress(err); err != nil {
			return true
		}
		if done {
			b.markDone(q.positions[0])
			return true
		}
	}
	if q.valid {
		b.known.Add(key, q)
	}
	b.queue = append(b.queue, q)
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
	runtime.Gosched() // it goes out before later ones
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
		b.queue = slices.Insert(b.queue, 0, q)
		return true
	case v.Outcome == Aside, v.Outcome == Answered && !b.away.IsZero() && !q.alone: // it was sent before the pause
		return b.deliver(q, false)
	case v.Outcome != Answered:
		return b.fail(q)
	}
	b.works, b.doubts, b.failures, b.failedFrom = true, 0, 0, math.MaxInt
	b.away, b.until, b.pause, b.ahead, b.last = time.Time{}, time.Time{}, 0, 0, false
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
	if q.queued {
		b.doubts++
	} else {
		b.failures++
	}
	if pace := v.Outcome == TooFast; pace && q.alone && q.queued || !pace && !q.alone { // beside others the pace is no fault of this input
		q.tries++
	}
	keeps := !v.Once && !b.last && q.tries < tries && (v.Outcome == TooFast || v.Fallback == nil && most > 0 && (v.Outcome == Away || waits))
	if keeps {
		b.held = append(b.held, q)
	}
	switch {
	case b.last:
	case waits, v.Outcome == TooFast && keeps, v.Outcome == Away && most > 0 && b.failures >= min(several, most):
		b.wait(q)
	case most > 0 && b.failures >= most:
		b.stop(cmp.Or(q.err, v.Fallback))
	}
	switch {
	case keeps:
		return true
	case !v.Once:
		b.failedFrom = min(b.failedFrom, q.positions[0])
	}
	return b.deliver(q, false)
}

// wait pauses the batch: first for a second, and twice as long after each probe that fails. It stops the batch after
// patience.
func (b *run[E, A]) wait(q *query[E, A]) {
	now := time.Now()
	b.queue, b.held = append(b.held, b.queue...), nil
	switch {
	case b.away.IsZero():
		b.away, b.pause, b.works = now, cmp.Or(q.verdict.Pause, time.Second), false
		b.paced = q.verdict.Outcome == TooFast
	case q.alone && q.verdict.Outcome == TooFast:
		b.pause = cmp.Or(q.verdict.Pause, min(2*b.pause, time.Minute))
	case q.alone:
		b.pause, b.ahead = min(2*b.pause, time.Minute), min(8*max(1, b.ahead), window)
	}
	b.last = b.ended && b.pause == time.Minute && q.verdict.Outcome == Away && !q.verdict.Once && len(b.queue)+b.underWay <= few
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
