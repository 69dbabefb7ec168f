// Package solguard keeps a client from locking a SOL user. The tax authority blocks a user after repeated
// refusals, and publishes no number (docs/contrato.md, 4.3). A user is a RUC and a name, whose case does
// not matter; a credential is a user with a clave. The rules:
//
//  1. A refused credential is not sent, until its time is over or Forget says that it is right by now.
//  2. One that was accepted within the last minutes ([Recent]) is sent by any number of calls side by side,
//     until one of them gets no answer, which may have been a refusal, or others were refused elsewhere.
//  3. Every other goes alone: of a user, one call at a time, while the others wait for what comes of it.
//  4. A refusal counts whenever it arrives, and from then on nobody who was let in before may begin to
//     send. An acceptance counts only if its call began after the last refusal.
//  5. A refusal blocks for as long as the guard remembers. One that does not say what it refuses, of a
//     credential that was accepted before, blocks for minutes, which double until it is accepted again.
//  6. What is known of a credential that somebody is sending is kept; so are 100 000 refused ones, and
//     10 000 that were accepted. Where there are more, the oldest go.
package solguard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"
)

// Recent is for how long an accepted credential is sent by many calls side by side.
const Recent = 15 * time.Minute

// inDoubt is how long a refusal blocks that does not say what it refuses, the first time.
const inDoubt = 5 * time.Minute

// Verdict is what an answer says about a credential.
type Verdict int

// The verdicts.
const (
	Unproven   Verdict = iota // nothing
	Unanswered                // nothing, and it may have been refused: it was sent, and no answer came
	Proven                    // it was accepted
	Rejected                  // it was refused
	Doubtful                  // something was refused, and the answer does not say what
)

// ErrImpatient ends a wait.
var ErrImpatient = errors.New("another call is trying this SOL user and has no answer yet")

// Guard decides which calls may send a credential. It belongs to a Client: two of them know nothing of
// each other.
type Guard struct {
	memory time.Duration
	now    func() time.Time
	key    [16]byte // random, so that what is remembered of a clave is of no use elsewhere

	mu     sync.Mutex
	trying map[user]chan struct{} // those of which a call goes alone; closed when that is over
	known  knowledge
}

// id is a keyed hash.
type id [sha256.Size]byte

// user is a RUC and a name, in its one spelling.
type user struct{ ruc, name string }

// Credential is the name under which the guard knows a credential.
type Credential struct {
	user user
	id   id
}

// New returns a guard that remembers a verdict for so long by now, or by time.Now where that is nil. Nothing
// waits for that clock.
func New(memory time.Duration, now func() time.Time) *Guard {
	if now == nil {
		now = time.Now
	}
	g := &Guard{memory: memory, now: now, trying: map[user]chan struct{}{}, known: newKnowledge()}
	_, _ = rand.Read(g.key[:]) // never fails
	return g
}

// User returns the one name for every spelling of a user's.
func User(usuario string) string { return strings.ToUpper(usuario) }

// Credential returns the guard's name of a credential.
func (g *Guard) Credential(ruc, usuario, clave string) Credential {
	c := Credential{user: user{ruc, User(usuario)}}
	text := make([]byte, 0, 128) // on the stack, and mostly one block of SHA-256
	text = append(text, g.key[:]...)
	for _, part := range []string{c.user.ruc, c.user.name, clave} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	c.id = sha256.Sum256(text) // it never leaves the process, so that the key in front is enough
	return c
}

// Enter waits until a credential may be sent, at most for patience, or refuses it with a [Refused]. The
// turn that it returns must be left.
func (g *Guard) Enter(ctx context.Context, c Credential, patience time.Duration) (Turn, error) {
	turn, over, err := g.ask(c)
	if over == nil { // nearly always: it needs no timer
		return turn, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrImpatient)
	defer cancel()
	for ; over != nil; turn, over, err = g.ask(c) {
		select {
		case <-over:
		case <-ctx.Done():
			select {
			case <-over: // in the same moment: what came of it counts
				continue
			default:
			}
			if errors.Is(context.Cause(ctx), ErrImpatient) {
				return Turn{}, ErrImpatient
			}
			return Turn{}, ctx.Err()
		}
	}
	return turn, err
}

// ask returns what is to be waited for, or, where that is nil, the decision.
func (g *Guard) ask(c Credential) (turn Turn, over <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	state, known := g.known.of(c.id)
	alone := !state.recent(now, g.memory)
	switch {
	case state.blocked(now):
		return Turn{}, nil, state.refusal
	case alone && g.trying[c.user] != nil:
		return Turn{}, g.trying[c.user], nil
	case alone:
		g.trying[c.user] = make(chan struct{})
	}
	g.known.hold(c.id, state, known)
	return Turn{guard: g, credential: c, state: state, refusal: state.refusal, alone: alone}, nil, nil
}

// Forget lets a refused credential be sent again. It takes nothing from one that is not refused.
func (g *Guard) Forget(c Credential) {
	g.mu.Lock()
	defer g.mu.Unlock()
	state, _ := g.known.of(c.id)
	state.until = time.Time{}
}
