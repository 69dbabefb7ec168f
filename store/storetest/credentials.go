package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/store"
)

func (s suite) claim(hold time.Duration) store.Claim {
	s.t.Helper()
	c, err := s.store.Claim(s.ctx, s.id, hold)
	s.ok(err)
	return c
}

func (s suite) record(c store.Claim, v store.Verdict, memory time.Duration) {
	s.t.Helper()
	s.ok(s.store.Record(s.ctx, s.id, c, v, memory))
}

// is checks the state of the credential. If nothing is known about it, the call claims it.
func (s suite) is(state store.ClaimState) store.Claim {
	s.t.Helper()
	c := s.claim(time.Hour)
	mustBe(s, "state", c.State, state)
	return c
}

// first claims a credential about which nothing is known.
func (s suite) first() store.Claim {
	s.t.Helper()
	return s.is(store.ClaimGranted)
}

// notClaimed is the claim of a verdict without a granted one.
var notClaimed = store.Claim{State: store.ClaimProven}

func oneClaim(s suite) {
	s.first()
	s.is(store.ClaimBusy)
	s.is(store.ClaimBusy)
}

func provenCredential(s suite) {
	s.record(s.first(), store.VerdictProven, time.Hour)
	c := s.is(store.ClaimProven)
	s.near("Since", c.Since, time.Now())
	s.near("Until", c.Until, time.Now().Add(time.Hour))
	s.record(notClaimed, store.VerdictProven, time.Hour)
	s.is(store.ClaimProven)
	s.record(notClaimed, store.VerdictRefused, time.Hour)
	s.is(store.ClaimRefused)
}

func refusedCredential(s suite) {
	s.record(s.first(), store.VerdictRefused, time.Hour)
	c := s.is(store.ClaimRefused)
	s.near("Since", c.Since, time.Now())
	s.near("Until", c.Until, time.Now().Add(time.Hour))
}

func noVerdict(s suite) {
	mine := s.first()
	s.record(store.Claim{State: store.ClaimGranted, Token: "somebody's"}, store.VerdictNone, time.Hour)
	s.record(store.Claim{State: store.ClaimBusy}, store.VerdictNone, time.Hour)
	s.is(store.ClaimBusy)
	s.record(mine, store.VerdictNone, time.Hour)
	s.record(s.first(), store.VerdictProven, time.Hour)
	s.record(mine, store.VerdictNone, time.Hour)
	s.is(store.ClaimProven)
}

func holdEnds(s suite) {
	mine := s.claim(50 * time.Millisecond)
	var next store.Claim
	s.eventually("a claim ends with its hold", func() bool {
		next = s.claim(time.Hour)
		return next.State == store.ClaimGranted
	})
	s.record(mine, store.VerdictNone, time.Hour)
	s.is(store.ClaimBusy)
	s.record(mine, store.VerdictRefused, time.Hour)
	s.is(store.ClaimRefused)
}

func memoryEnds(s suite) {
	for _, v := range []store.Verdict{store.VerdictProven, store.VerdictRefused} {
		s.record(s.first(), v, 50*time.Millisecond)
		var c store.Claim
		s.eventually("a verdict ends with its memory", func() bool {
			c = s.claim(time.Hour)
			return c.State == store.ClaimGranted
		})
		s.record(c, store.VerdictNone, 0)
	}
}

func oldProof(s suite) {
	clock, ok := s.store.(interface{ Advance(time.Duration) })
	if !ok {
		return // its clock cannot be moved
	}
	s.record(s.first(), store.VerdictProven, 24*time.Hour)
	clock.Advance(store.Recent - time.Minute)
	s.is(store.ClaimProven)
	clock.Advance(2 * time.Minute)
	for range 2 { // the end of a claim does not undo the proof
		mine := s.first()
		s.near("Until of a claim upon an older proof", mine.Until, mine.Since.Add(24*time.Hour))
		s.is(store.ClaimBusy)
		s.is(store.ClaimBusy)
		s.record(mine, store.VerdictNone, 0)
	}
	s.first()
	s.record(notClaimed, store.VerdictProven, time.Hour)
	s.is(store.ClaimProven)
}

func lateProof(s suite) {
	mine := s.first()
	s.record(notClaimed, store.VerdictRefused, time.Hour)
	s.record(mine, store.VerdictProven, time.Hour)
	s.is(store.ClaimRefused)
}

func longerRefusal(s suite) {
	s.record(s.first(), store.VerdictRefused, time.Hour)
	s.record(notClaimed, store.VerdictRefused, time.Minute)
	s.near("Until", s.is(store.ClaimRefused).Until, time.Now().Add(time.Hour))
	s.record(notClaimed, store.VerdictRefused, 10*time.Hour)
	s.near("Until", s.is(store.ClaimRefused).Until, time.Now().Add(10*time.Hour))
}

func forgottenRefusal(s suite) {
	s.record(s.first(), store.VerdictRefused, time.Hour)
	s.record(store.Claim{}, store.VerdictForget, 0)
	mine := s.first()
	s.record(mine, store.VerdictForget, 0)
	s.first()
}

func forgottenNothing(s suite) {
	s.record(store.Claim{}, store.VerdictForget, 0)
	mine := s.first()
	s.record(store.Claim{}, store.VerdictForget, 0)
	s.is(store.ClaimBusy)
	s.record(mine, store.VerdictProven, time.Hour)
	s.record(store.Claim{}, store.VerdictForget, 0)
	s.is(store.ClaimProven)
}

func concurrentClaims(s suite) {
	var granted, refused atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c, err := s.store.Claim(s.ctx, s.id, time.Hour)
			if err != nil {
				s.t.Errorf("Claim: %v", err)
				return
			}
			if c.State == store.ClaimGranted {
				granted.Add(1)
				if err = s.store.Record(s.ctx, s.id, c, store.VerdictRefused, time.Hour); err != nil {
					s.t.Errorf("Record: %v", err)
				}
			}
			if c.State == store.ClaimProven {
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	mustBe(s, "claims that were granted", granted.Load(), 1)
	mustBe(s, "proofs", refused.Load(), 0)
	s.is(store.ClaimRefused)
}
