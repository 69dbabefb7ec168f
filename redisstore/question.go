package redisstore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/fiscope/fiscope"
)

// questions are what Redis is asked for the callers of this process: one question after the other, each for all who
// came during the one before. They are guarded by the lock of their account.
type questions struct {
	waiting int       // callers
	asked   *question // that is under way; nil for none
	next    *question // for those who came meanwhile; nil for none
	overdue int       // how many are under way for longer than anybody waited
}

// question is what Redis is asked for callers who keep the same for others.
type question struct {
	keep    int
	waited  string // the first attempt of the day that some of them were told to wait for
	callers int
	again   bool // since Redis was away, slow or failing
	done    chan struct{}
	woken   bool // done is closed: there is something to be known

	replied bool // Redis answered, or failed to
	overdue bool // nobody waited so long
	err     error
	failed  bool                // what some of its callers waited for
	told    fiscope.Reservation // what its callers are told when they cannot wait any longer
}

// wake lets those who wait for a question look at what is known by now.
func (mine *question) wake() {
	if mine != nil && !mine.woken {
		mine.woken = true
		close(mine.done)
	}
}

// wait waits until there is something to be known, and reports whether that was in time.
func (mine *question) wait(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-mine.done:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// join returns the question that is asked for a caller, alone or with others, and whether it is asked at once.
func (q *questions) join(keep int, waited string, again, alone bool) (mine *question, atOnce bool) {
	mine = &question{keep: keep, waited: waited, callers: 1, again: again, done: make(chan struct{}), told: fiscope.Reservation{Grant: fiscope.QuotaAway}}
	switch next := q.next; {
	case alone:
		return mine, true
	case q.asked == nil:
		q.asked = mine
		return mine, true
	case next == nil:
		q.next = mine
		return mine, false
	case next.keep == keep && (waited == "" || next.waited == "" || next.waited == waited):
		next.callers++
		next.waited = cmp.Or(next.waited, waited)
		next.again = next.again || again
		return next, false
	}
	return mine, true
}

// replied takes note that a question was answered, or failed. What comes late is for all who wait.
func (q *questions) replied(mine *question, err error) {
	mine.replied = true
	if !mine.overdue {
		mine.err = cmp.Or(err, mine.err)
		return
	}
	q.overdue--
	q.asked.wake()
	q.next.wake()
	q.next = nil
}

// follow ends the wait for a question; err is why there is no answer. It returns the one that is to be asked now: for
// those who came meanwhile, unless there is enough for them.
func (q *questions) follow(mine *question, err error, enough func(next, others *question) bool) (next *question) {
	if !mine.replied {
		mine.err = err
		if mine.overdue = errors.Is(err, errSlow); mine.overdue {
			q.overdue++
		}
	}
	mine.wake()
	if q.asked != mine {
		return nil
	}
	next, q.next = q.next, nil
	if next != nil && (q.waiting == 0 || enough(next, mine)) {
		next.wake()
		next = nil
	}
	q.asked = next
	return next
}

// overdueBut reports whether another question is overdue.
func (q *questions) overdueBut(mine *question) bool {
	others := q.overdue
	if mine.overdue {
		others--
	}
	return others > 0
}
