// Package storetest tests an implementation of [store.Store].
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/fiscope/fiscope/store"
)

// Run tests a Store against what its interface promises. Each test gets a Store from newStore and uses its own keys, so
// the Stores may share their data.
//
// The suite has no fixed waits: an expired value must be gone within ten seconds. If the Store has a method
// Advance(time.Duration), which makes what it knows of credentials that much older, the suite also tests a proof of more
// than 15 minutes.
func Run(t *testing.T, newStore func(t *testing.T) store.Store) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			test(suite{t: t, ctx: ctx, store: newStore(t), id: newID()})
		})
	}
}

var tests = map[string]func(suite){
	"answer/missing":    missingAnswer,
	"answer/saved":      savedAnswer,
	"answer/replaced":   replacedAnswer,
	"answer/expired":    expiredAnswer,
	"answer/concurrent": concurrentAnswers,

	"quota/unknown":              unknownQuota,
	"quota/header":               headerQuota,
	"quota/given back":           givenBackQuota,
	"quota/kept for others":      keptQuota,
	"quota/refused":              refusedQuota,
	"quota/refused, unknown":     refusedUnknownQuota,
	"quota/refused, some left":   refusedWithQueriesLeft,
	"quota/reset":                resetQuota,
	"quota/served":               servedQuota,
	"quota/late header":          lateHeaderQuota,
	"quota/foreign token":        foreignTokenQuota,
	"quota/accounts are apart":   apartQuota,
	"quota/concurrent":           concurrentQuota,
	"credential/one goes first":  oneClaim,
	"credential/proven":          provenCredential,
	"credential/refused":         refusedCredential,
	"credential/nothing":         noVerdict,
	"credential/hold ends":       holdEnds,
	"credential/memory ends":     memoryEnds,
	"credential/proof is late":   lateProof,
	"credential/proof is old":    oldProof,
	"credential/longer refusal":  longerRefusal,
	"credential/forget":          forgottenRefusal,
	"credential/forget the rest": forgottenNothing,
	"credential/concurrent":      concurrentClaims,

	"context": endedContext,
}

// suite is a test of one Store.
type suite struct {
	t     *testing.T
	ctx   context.Context
	store store.Store
	id    string // of an answer, an account or a credential that no other test uses
}

func newID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// ok ends the test if a call of the Store failed.
func (s suite) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("the Store failed: %v", err)
	}
}

func mustBe[V comparable](s suite, what string, got, want V) {
	s.t.Helper()
	if got != want {
		s.t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// near checks a time of the Store, whose clock may differ from ours.
func (s suite) near(what string, got, want time.Time) {
	s.t.Helper()
	if got.Sub(want).Abs() > 2*time.Minute {
		s.t.Fatalf("%s: got %v, want about %v", what, got, want)
	}
}

// eventually waits until a condition holds.
func (s suite) eventually(what string, condition func() bool) {
	s.t.Helper()
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for deadline := time.Now().Add(10 * time.Second); !condition(); <-pause.C {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within ten seconds: %s", what)
		}
	}
}

func endedContext(s suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	done := make(chan struct{})
	go func() { // a Store may return anything here, but it must return
		defer close(done)
		_, _ = s.store.Load(ctx, s.id)
		_ = s.store.Save(ctx, s.id, []byte("{}"), time.Hour)
		r, _ := s.store.Reserve(ctx, s.id, 0)
		_ = s.store.Commit(ctx, s.id, r, store.Outcome{Remaining: -1})
		c, _ := s.store.Claim(ctx, s.id, time.Second)
		_ = s.store.Record(ctx, s.id, c, store.VerdictNone, 0)
	}()
	s.eventually("a call with an ended context returns", func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}
