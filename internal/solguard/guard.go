// Package solguard keeps a client from locking a SOL user.
package solguard

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const bound = 10_000 // credentials remembered

// Refused says since when a credential is known to be refused.
type Refused struct{ Since time.Time }

func (r *Refused) Error() string {
	return "this SOL user and clave were refused at " + r.Since.UTC().Format(time.RFC3339)
}

// Guard keeps us from locking a SOL user: the tax authority blocks a user after repeated refusals,
// and publishes no number (docs/contrato.md, 4.3). A refused credential is not sent again. One of which
// nothing is known is sent by one call while the others wait for what comes of it.
//
// It belongs to a Client: two of them know nothing of each other.
type Guard struct {
	memory time.Duration
	key    []byte // random, so that what is remembered of a clave is of no use elsewhere

	mu    sync.Mutex
	known *simplelru.LRU[ID, *state]
}

// ID is a keyed hash of RUC, user and clave.
type ID [sha256.Size]byte

type state struct {
	verdict Verdict
	since   time.Time
	proving chan struct{} // closed when the call that tries the credential is over; nil while there is none
}

// Verdict is what an answer says about a credential.
type Verdict int

// The verdicts.
const (
	Unproven Verdict = iota
	Proven
	Rejected
)

// New returns a guard that remembers a verdict for so long.
func New(memory time.Duration) *Guard {
	g := &Guard{memory: memory, key: make([]byte, sha256.Size)}
	_, _ = rand.Read(g.key) // never fails
	g.known, _ = simplelru.NewLRU[ID, *state](bound, nil)
	return g
}

// ID returns the name under which the guard knows a credential.
func (g *Guard) ID(parts ...string) (id ID) {
	mac := hmac.New(sha256.New, g.key)
	for _, part := range parts {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part)))
		mac.Write([]byte(part))
	}
	mac.Sum(id[:0])
	return id
}

// Turn is a call's permission to send a credential: it must say what came of it.
type Turn struct {
	id     ID
	state  *state
	Prover bool // others wait for this call
}

// Enter waits until the credential may be sent, at most for patience, or refuses it.
func (g *Guard) Enter(ctx context.Context, id ID, patience time.Duration) (Turn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrImpatient)
	defer cancel()
	for {
		turn, proving, err := g.ask(id)
		if proving == nil {
			return turn, err
		}
		select {
		case <-proving:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), ErrImpatient) {
				return Turn{}, ErrImpatient
			}
			return Turn{}, ctx.Err()
		}
	}
}

// ErrImpatient ends a wait.
var ErrImpatient = errors.New("another call is trying the same SOL credential for the first time and has no answer yet")

// ask returns what is to be waited for, or, where that is nil, the decision.
func (g *Guard) ask(id ID) (turn Turn, proving <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.known.Get(id)
	if !ok || known.verdict != Unproven && time.Since(known.since) >= g.memory {
		known = new(state)
		g.known.Add(id, known)
	}
	turn = Turn{id: id, state: known}
	switch {
	case known.verdict == Rejected:
		return turn, nil, &Refused{known.since}
	case known.verdict == Unproven && known.proving != nil:
		return turn, known.proving, nil
	case known.verdict == Unproven:
		known.proving, turn.Prover = make(chan struct{}), true
	}
	return turn, nil, nil
}

// Leave takes note of what came of a credential. An answer that was under way when the credential was
// refused does not prove it again.
func (g *Guard) Leave(t Turn, verdict Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if verdict == Rejected || verdict == Proven && t.state.verdict != Rejected {
		t.state.verdict, t.state.since = verdict, time.Now()
		g.known.Add(t.id, t.state) // it may have been pushed out by ten thousand others
	}
	if t.Prover {
		close(t.state.proving)
		t.state.proving = nil
	}
}

// Forget lets a refused credential be tried again.
func (g *Guard) Forget(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if state, ok := g.known.Get(id); ok && state.verdict == Rejected {
		state.verdict = Unproven
	}
}
