package mockserver

import (
	"cmp"
	"net/http"
	"strconv"
	"time"
)

// AttemptHeader is the request header that numbers an attempt, from 2 on. Without it, a repeat soon after a failure
// counts as the next attempt.
const AttemptHeader = "Fiscope-Attempt"

const (
	failedFor = 15 * time.Second // how long after its end a failed call is repeated
	brokenFor = time.Minute      // the same of one whose answer did not come whole, or whose client says so
	lookBack  = 64               // calls of one key that are looked at
)

// attemptOf is the attempt that a request says it is, 1 if it says nothing.
func attemptOf(r *http.Request) int {
	text := r.Header.Get(AttemptHeader)
	if text == "" || len(text) > 3 || !digits(text) {
		return 1
	}
	n, _ := strconv.Atoi(text)
	return max(n, 1)
}

// link finds the call of the same client that an entry repeats, in the ring of its key.
func (r *ring) link(e *entry) {
	for i := len(r.entries) - 1; i >= max(0, len(r.entries)-lookBack); i-- {
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

// repeatedBy reports whether the same question is the next attempt.
func (e *entry) repeatedBy(next *entry) bool {
	var since time.Duration // 0 while it is under way: its client may leave before the server sees it
	if e.endedTurn > 0 {
		since = next.arrived.Sub(e.ended)
	}
	switch {
	case next.said > 1:
		return e.said < next.said && since <= brokenFor
	case e.said > 1, e.endedTurn > next.arrivedTurn: // its client would have said so, or it came before this one had ended
		return false
	case e.Broken:
		return since <= brokenFor
	}
	return (e.Status >= 500 || e.Status == http.StatusTooManyRequests) && since <= failedFor
}
