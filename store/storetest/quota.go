package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/store"
)

// silent is the outcome of an attempt that was answered without a header.
var silent = store.Outcome{Written: 1, Served: true, Remaining: -1}

// header is the outcome of an attempt whose answer says what is left for an hour.
func header(left int) store.Outcome {
	return store.Outcome{Written: 1, Served: true, Remaining: left, Reset: time.Now().Add(time.Hour).Truncate(time.Second)}
}

func (s suite) reserve(keep int) store.Reservation {
	s.t.Helper()
	r, err := s.store.Reserve(s.ctx, s.id, keep)
	s.ok(err)
	return r
}

func (s suite) commit(r store.Reservation, o store.Outcome) {
	s.t.Helper()
	s.ok(s.store.Commit(s.ctx, s.id, r, o))
}

// attempt makes an attempt that must be granted.
func (s suite) attempt(o store.Outcome) {
	s.t.Helper()
	r := s.reserve(0)
	mustBe(s, "grant", r.Grant, store.Granted)
	s.commit(r, o)
}

// drain makes attempts until one is not granted, and returns how many were.
func (s suite) drain() int {
	s.t.Helper()
	for n := 0; ; n++ {
		r := s.reserve(0)
		if r.Grant != store.Granted || n == 1000 {
			return n
		}
		s.commit(r, silent)
	}
}

func unknownQuota(s suite) {
	for range 50 {
		r := s.reserve(0)
		mustBe(s, "grant without a header", r.Grant, store.Granted)
		s.isUnknown(r)
		s.commit(r, silent)
	}
}

func headerQuota(s suite) {
	o := header(3)
	s.attempt(o)
	r := s.reserve(0)
	mustBe(s, "Left of a query that is granted after a header that says 3", r.Left, 2)
	s.commit(r, store.Outcome{Remaining: -1})
	mustBe(s, "granted after a header that says 3", s.drain(), 3)
	r = s.reserve(0)
	mustBe(s, "grant after that", r.Grant, store.Spent)
	mustBe(s, "Left", r.Left, 0)
	s.near("Until", r.Until, o.Reset)
}

func givenBackQuota(s suite) {
	s.attempt(header(3))
	r := s.reserve(0)
	s.commit(r, store.Outcome{Remaining: -1})
	mustBe(s, "granted after one of 3 was given back", s.drain(), 3)
}

func keptQuota(s suite) {
	mustBe(s, "grant while nothing is known", s.reserve(100).Grant, store.Granted)
	s.attempt(header(5))
	r := s.reserve(5)
	mustBe(s, "grant of what is all kept for others", r.Grant, store.Spent)
	if r.Left < 1 || r.Left > 5 {
		s.t.Fatalf("Left: got %d, want what is left, at most 5", r.Left)
	}
	mustBe(s, "grant for one of the others", s.reserve(0).Grant, store.Granted)
}

// isUnknown checks that a reservation does not say what is left.
func (s suite) isUnknown(r store.Reservation) {
	s.t.Helper()
	if r.Left >= 0 {
		s.t.Fatalf("Left while nothing is known: got %d, want a number below 0", r.Left)
	}
}

func refusedQuota(s suite) {
	o := header(0)
	o.Served, o.Refused = false, true
	s.attempt(o)
	r := s.reserve(0)
	mustBe(s, "grant after a refusal", r.Grant, store.Spent)
	s.near("Until", r.Until, o.Reset)
}

func refusedUnknownQuota(s suite) {
	s.attempt(store.Outcome{Written: 1, Refused: true, Remaining: -1})
	r := s.reserve(0)
	mustBe(s, "grant after a refusal of a day that is not known", r.Grant, store.Spent)
	s.isUnknown(r)
	s.beforeReset(r)
}

func refusedWithQueriesLeft(s suite) {
	s.attempt(header(900))
	s.attempt(store.Outcome{Written: 1, Refused: true, Remaining: -1})
	r := s.reserve(0)
	mustBe(s, "grant after a refusal while queries are left", r.Grant, store.Spent)
	mustBe(s, "Left", r.Left, 899)
	s.beforeReset(r)
}

// beforeReset checks that a refusal ends with the next probe, not with the reset in an hour.
func (s suite) beforeReset(r store.Reservation) {
	s.t.Helper()
	if wait := time.Until(r.Until); wait <= 0 || wait > 58*time.Minute {
		s.t.Fatalf("Until of a refusal: got in %s, want the next probe, before the reset", wait)
	}
}

func resetQuota(s suite) {
	o := header(0)
	o.Reset = time.Now().Add(time.Second)
	s.attempt(o)
	var r store.Reservation
	s.eventually("an attempt may be sent once the day is over", func() bool {
		r = s.reserve(0)
		return r.Grant != store.Spent
	})
	s.commit(r, header(2))
	mustBe(s, "granted on the next day", s.drain(), 2)
}

func servedQuota(s suite) {
	o := header(5)
	o.Served, o.Reset = false, time.Now().Add(time.Second)
	s.attempt(o)
	r := s.reserve(0)
	mustBe(s, "Served after an answer that served nothing", r.Served, false)
	s.commit(r, silent)
	s.eventually("the day is over", func() bool {
		r = s.reserve(0)
		return r.Left < 0
	})
	mustBe(s, "Served on the next day", r.Served, true)
}

func lateHeaderQuota(s suite) {
	late := s.reserve(0)
	s.attempt(header(3))
	s.commit(late, header(900))
	if n := s.drain(); n > 3 {
		s.t.Fatalf("a header of an earlier attempt counts: %d were granted, want at most 3", n)
	}
}

func foreignTokenQuota(s suite) {
	s.attempt(header(3))
	s.commit(store.Reservation{Token: "foreign"}, store.Outcome{Remaining: -1})
	mustBe(s, "granted after a foreign reservation was given back", s.drain(), 3)
}

func apartQuota(s suite) {
	s.attempt(header(0))
	other := s
	other.id = newID()
	other.attempt(silent)
}

func concurrentQuota(s suite) {
	const quota = 120
	s.attempt(header(quota))
	var granted atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				r, err := s.store.Reserve(s.ctx, s.id, 0)
				if err == nil && r.Grant == store.Granted {
					granted.Add(1)
					err = s.store.Commit(s.ctx, s.id, r, silent)
				} else if err == nil {
					return
				}
				if err != nil {
					s.t.Errorf("the Store failed: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	mustBe(s, "granted to 20 goroutines", granted.Load(), quota)
}
