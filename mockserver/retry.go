package mockserver

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// AttemptHeader is the request header that numbers an attempt, from 2 on. Without it, a repetition soon after a failure
// counts as the next attempt.
const AttemptHeader = "Fiscope-Attempt"

const (
	failedFor   = 15 * time.Second // how long after its end a failed call can be retried
	brokenFor   = time.Minute      // the same if its answer was incomplete, or its client numbers attempts
	searchDepth = 64               // calls of one key to search

	seenLate = 50 * time.Millisecond // how late the server may see that a client left, after its next call
)

// attemptOf returns the number in a request's AttemptHeader, or 1.
func attemptOf(r *http.Request) int {
	text := r.Header.Get(AttemptHeader)
	if text == "" || len(text) > 3 || !scrub.Digits(text) {
		return 1
	}
	n, _ := strconv.Atoi(text)
	return max(n, 1)
}

// link finds the call that an entry repeats, in the ring of its key.
func (r *ring) link(e *entry) {
	if was := r.find(e.N); was != nil && was.Attempt > 0 {
		e.RetryOf, e.Attempt, e.Replay = was.RetryOf, was.Attempt, was.Replay
		return
	}
	first := max(0, len(r.entries)-searchDepth)
	if e.said == 1 && (len(r.entries) == 0 || r.failed < r.at(first).N) {
		return // no call has failed, the usual case
	}
	for i := len(r.entries) - 1; i >= first; i-- {
		last := r.at(i)
		if last.question != e.question || last.repeated || e.N != 0 && last.N >= e.N || !last.repeatedBy(e) {
			continue
		}
		last.repeated = true
		e.RetryOf, e.Attempt = cmp.Or(last.RetryOf, last.N), max(last.Attempt, 1)+1
		if last.Broken {
			e.Replay = last.N
		}
		break
	}
	if e.said > 1 {
		e.Attempt = e.said
	}
}

// linkLate finds the call that repeats e, if it came before the server saw that e's client had left; nil for none.
func (r *ring) linkLate(e *entry) *entry {
	for i := max(0, len(r.entries)-searchDepth); i < len(r.entries); i++ {
		if next := r.at(i); next.N > e.N && next.question == e.question && next.Attempt == 0 {
			if r.link(next); next.Attempt > 0 {
				return next
			}
		}
	}
	return nil
}

// repeatedBy reports whether the same question is the next attempt.
func (e *entry) repeatedBy(next *entry) bool {
	since := next.arrived.Sub(e.ended) // centuries while it is in flight: the two may be in parallel
	switch {
	case next.said > 1: // twice the same number if net/http repeats the request
		return (e.said < next.said || e.said == next.said && e.Broken) && (e.endedTurn == 0 || since <= brokenFor)
	case e.said > 1: // the client numbers its attempts
		return false
	case e.endedTurn > next.arrivedTurn:
		return e.left && -since <= min(seenLate, e.ended.Sub(e.arrived)/4)
	case e.Broken:
		return since <= brokenFor
	}
	return e.failed() && since <= failedFor
}

// failed reports whether a client may repeat the request.
func (e *entry) failed() bool {
	return e.Broken || e.Status >= 500 || e.Status == http.StatusTooManyRequests
}
