// Package solguard keeps a client from blocking a SOL user. The tax authority blocks a user after repeated refusals;
// how many is not published (docs/contract.md, 4.3). The rules:
//
//  1. A refused credential is not sent until its block ends, or Forget.
//  2. Any number of calls may send a credential that was accepted within [store.Recent]: its clave may have been changed
//     since. An answer that is no refusal renews this for a credential that was accepted within [Memory].
//  3. Any other credential of a user is sent by one call at a time; the others wait for its outcome.
//  4. A refusal counts whenever it arrives: a call that already has a permit does not send any more. An acceptance
//     counts only if its permit was given after the last refusal.
//  5. If a caller leaves before the answer, one of the next calls runs in the background, since a refusal may have been
//     missed; unless the credential was accepted since.
//  6. A refusal that does not say what was refused blocks for 5 minutes, doubling up to [Memory] until an acceptance.
package solguard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/fiscope/fiscope/store"
)

// Memory is how long a verdict is remembered.
const Memory = 24 * time.Hour

// Guard decides which calls may send a credential.
type Guard struct {
	// KeyRefused says that lookups get a 401 too, so that an unexplained one is about the API key and blocks nothing.
	KeyRefused atomic.Bool

	now func() time.Time
	key [16]byte // random, so that a remembered hash of a clave is useless elsewhere

	mu     sync.Mutex
	trying map[user]chan struct{}     // users that one call is trying alone; closed when that call is done
	known  *simplelru.LRU[id, *state] // the least recently used is forgotten
}

type id [sha256.Size]byte

// user is a RUC and a name in upper case: the portal ignores case.
type user struct{ ruc, name string }

// Credential is the guard's name for a credential.
type Credential struct {
	user user
	id   id
}

// state is what is known about a credential.
type state struct {
	accepted   time.Time // when it was last accepted; zero for never, or not since it was refused
	renewed    time.Time // ... or got another answer that is no refusal
	refusal    *Refused  // the last; nil for none
	doubts     int       // unexplained refusals since it was accepted
	cut        time.Time // the latest start of a call whose caller left before the answer; zero for none
	background bool      // a call runs in the background
}

// New returns a guard that uses the clock now, or time.Now if it is nil. Waits are in real time.
func New(now func() time.Time) *Guard {
	if now == nil {
		now = func() time.Time { return time.Now().Round(0) } // the monotonic clock stands still while a laptop sleeps
	}
	g := &Guard{now: now, trying: map[user]chan struct{}{}}
	g.known, _ = simplelru.NewLRU[id, *state](10_000, nil) // fails for sizes below 1
	_, _ = rand.Read(g.key[:])                             // never fails
	return g
}

// User returns the canonical spelling of a user's name.
func User(usuario string) string { return strings.ToUpper(usuario) }

// Credential returns the guard's name for a credential.
func (g *Guard) Credential(ruc, usuario, clave string) Credential {
	c := Credential{user: user{ruc, User(usuario)}}
	text := append(make([]byte, 0, 128), g.key[:]...)
	for _, part := range []string{c.user.ruc, c.user.name, clave} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	c.id = sha256.Sum256(text) // it never leaves the process, so a key as prefix is enough
	return c
}

// Acquire waits until a credential may be sent, for at most patience (ErrBusy). For a blocked credential the error is a
// [Refused]. The permit must be released.
func (g *Guard) Acquire(ctx context.Context, c Credential, patience time.Duration) (*Permit, error) {
	p, busy, err := g.try(c)
	if busy == nil {
		return p, err
	}
	over := time.After(patience)
	for ; busy != nil; p, busy, err = g.try(c) {
		select {
		case <-busy:
		case <-over:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return p, err
}

// try returns what to wait for or, if that is nil, the decision.
func (g *Guard) try(c Credential) (_ *Permit, busy <-chan struct{}, _ error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state(c)
	now := g.now()
	alone := !s.recent(now)
	switch {
	case g.blocks(s):
		return nil, nil, s.refusal
	case alone && g.trying[c.user] != nil:
		return nil, g.trying[c.user], nil
	case alone:
		g.trying[c.user] = make(chan struct{})
	}
	background := alone || s.cut.After(s.accepted) && !s.background
	s.background = s.background || background
	return &Permit{guard: g, credential: c, state: s, refusal: s.refusal, began: now, Alone: alone, Background: background}, nil, nil
}

func (g *Guard) state(c Credential) *state {
	s, known := g.known.Get(c.id)
	if !known {
		s = new(state)
		g.known.Add(c.id, s)
	}
	return s
}

func (g *Guard) blocks(s *state) bool {
	return s.refusal != nil && g.now().Before(s.refusal.Until) && !(s.refusal.Unexplained && g.KeyRefused.Load())
}

// proven reports whether a credential was accepted within Memory. A time ahead of now means that the clock was set
// back.
func (s *state) proven(now time.Time) bool {
	return s.doubts == 0 && !s.accepted.IsZero() && now.Sub(s.accepted).Abs() < Memory
}

// recent reports whether any number of calls may send a credential.
func (s *state) recent(now time.Time) bool {
	return s.proven(now) && now.Sub(s.renewed).Abs() < store.Recent
}

// Forget lets a refused credential be sent again.
func (g *Guard) Forget(c Credential) {
	g.change(c, func(s *state, r *Refused) { r.Until, s.doubts = time.Time{}, 0 })
}

// SetPrivate records whether the Store lacks the refusal of a credential.
func (g *Guard) SetPrivate(c Credential, private bool) {
	g.change(c, func(_ *state, r *Refused) { r.Private = private })
}

// change changes a copy of the refusal, if there is one: callers hold the old one.
func (g *Guard) change(c Credential, change func(*state, *Refused)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.state(c); s.refusal != nil {
		own := *s.refusal
		change(s, &own)
		s.refusal = &own
	}
}

// Verdict is what an answer proves about a credential.
type Verdict int

// The verdicts.
const (
	Nothing  Verdict = iota
	Proven           // it was accepted
	Answered         // another answer, which is no refusal
	Rejected         // it was refused
	Doubtful         // the key or the credential was refused, and the answer does not say which
	Cut              // the caller left before the answer
)

// Permit is a call's permission to send a credential.
type Permit struct {
	Alone      bool // other calls wait for this one: the credential was not accepted recently
	Background bool // the call must get its answer even if its caller leaves

	guard      *Guard
	credential Credential
	state      *state
	refusal    *Refused // the last one before this permit
	began      time.Time
}

// Refused returns the refusal that arrived since the permit was given; nil if the credential may be sent now.
func (p *Permit) Refused() error {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	if p.state.refusal != p.refusal && p.guard.blocks(p.state) {
		return p.state.refusal
	}
	return nil
}

// Proven reports whether the credential was accepted within Memory.
func (p *Permit) Proven() bool {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	return p.state.proven(p.guard.now())
}

// Accepted records that the credential was accepted for another process, and when that was renewed, unless it was
// refused here since. If that is recent, it ends the wait of other calls.
func (p *Permit) Accepted(at, renewed time.Time) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	s := p.state
	if s.refusal != p.refusal || s.refusal != nil && !at.After(s.refusal.Since) {
		return
	}
	if s.doubts = 0; at.After(s.accepted) {
		s.accepted = at
	}
	if renewed.After(s.renewed) {
		s.renewed = renewed
	}
	if s.recent(p.guard.now()) {
		p.end()
	}
}

// Block records that another process was refused.
func (p *Permit) Block(since, until time.Time) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	p.state.accepted, p.state.refusal = time.Time{}, &Refused{Since: since, Until: until, Elsewhere: true, Unexplained: until.Sub(since) <= Memory}
}

// Release records the verdict about the credential, and ends the permit. It returns how long the verdict counts: the
// block of a refusal, or what is left of Memory; 0 for a verdict that changes nothing. A doubt blocks for least or more.
func (p *Permit) Release(v Verdict, least time.Duration) (counts time.Duration) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	now, s := p.guard.now(), p.state
	switch unchanged := s.refusal == p.refusal; { // otherwise a refusal came after the permit was given
	case v == Proven && unchanged:
		s.accepted, s.renewed, s.doubts, counts = now, now, 0, Memory
	case v == Answered && unchanged && s.proven(now):
		s.renewed, counts = now, Memory-now.Sub(s.accepted)
	case v == Cut:
		s.cut = p.began
	case v == Rejected:
		counts, s.accepted = Memory, time.Time{}
		p.refuse(&Refused{Since: now, Until: now.Add(counts), Private: true})
	case v == Doubtful && !p.guard.KeyRefused.Load():
		if s.doubts == 0 || unchanged { // simultaneous refusals are one doubt
			s.doubts++
		}
		counts = min(max(5*time.Minute<<min(s.doubts-1, 16), least), Memory)
		p.refuse(&Refused{Since: now, Until: now.Add(counts), Unexplained: true, Private: true})
	}
	s.background = s.background && !p.Background
	p.end()
	return counts
}

// refuse records a refusal. It never shortens a block.
func (p *Permit) refuse(r *Refused) {
	if last := p.state.refusal; last == nil || last == p.refusal || !last.Until.After(r.Until) {
		p.state.refusal = r
	}
}

// end lets the next waiting call go.
func (p *Permit) end() {
	if p.Alone {
		p.Alone = false
		close(p.guard.trying[p.credential.user])
		delete(p.guard.trying, p.credential.user)
	}
}
