package fiscope

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	solMemory = 24 * time.Hour
	solBound  = 10_000 // credentials remembered
)

// WithSOLMemory sets for how long a SOL credential is remembered as refused or as proven: 24 hours by
// default.
func WithSOLMemory(d time.Duration) Option {
	return option(func(c *Client) error {
		if d <= 0 {
			return fmt.Errorf("fiscope: WithSOLMemory: want more than 0, got %s", d)
		}
		c.sol.memory = d
		return nil
	})
}

// Olvidar forgets what is known of a credential, so that it is sent again: for one that was refused
// and that you know to be right by now. With a [Store] it is forgotten in the whole fleet, though not in
// the memory of the other processes.
func (s *CPEService) Olvidar(credenciales CredencialesSOL) {
	s.client.sol.forget(credenciales)
	if s.client.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	_ = s.client.store.Forget(ctx, s.client.credentialName(credenciales))
}

// solGuard keeps us from locking a SOL user: the tax authority blocks a user after repeated refusals,
// and publishes no number (service.md, 4.3). A refused credential is not sent again. One of which
// nothing is known is sent by one call while the others wait for what comes of it.
//
// It belongs to a Client: two of them know nothing of each other.
type solGuard struct {
	memory time.Duration
	key    []byte // random, so that what is remembered of a clave is of no use elsewhere

	mu    sync.Mutex
	known *simplelru.LRU[credential, *solState]
}

// credential is a keyed hash of RUC, user and clave.
type credential [sha256.Size]byte

type solState struct {
	verdict solVerdict
	since   time.Time
	proving chan struct{} // closed when the call that tries the credential is over; nil while there is none
}

type solVerdict int

const (
	solUnproven solVerdict = iota
	solProven
	solRefused
)

func newSOLGuard() *solGuard {
	g := &solGuard{memory: solMemory, key: make([]byte, sha256.Size)}
	_, _ = rand.Read(g.key) // never fails
	g.known, _ = simplelru.NewLRU[credential, *solState](solBound, nil)
	return g
}

func (g *solGuard) credential(c CredencialesSOL) (id credential) {
	mac := hmac.New(sha256.New, g.key)
	for _, part := range []string{c.RUC, c.Usuario, c.Clave.text()} {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part)))
		mac.Write([]byte(part))
	}
	mac.Sum(id[:0])
	return id
}

// solTurn is a call's permission to send a credential: it must say what came of it.
type solTurn struct {
	id     credential
	state  *solState
	prover bool // others wait for this call
}

// enter waits until the credential may be sent, at most for patience, or refuses it.
func (g *solGuard) enter(ctx context.Context, c CredencialesSOL, patience time.Duration) (solTurn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errImpatient)
	defer cancel()
	for id := g.credential(c); ; {
		turn, proving, err := g.ask(id)
		if proving == nil {
			return turn, err
		}
		select {
		case <-proving:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errImpatient) {
				return solTurn{}, &Error{kind: ErrUnavailable, Message: errImpatient.Error()}
			}
			return solTurn{}, ctx.Err()
		}
	}
}

var errImpatient = errors.New("another call is trying the same SOL credential for the first time and has no answer yet")

// ask returns what is to be waited for, or, where that is nil, the decision.
func (g *solGuard) ask(id credential) (turn solTurn, proving <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	state, ok := g.known.Get(id)
	if !ok || state.verdict != solUnproven && time.Since(state.since) >= g.memory {
		state = new(solState)
		g.known.Add(id, state)
	}
	turn = solTurn{id: id, state: state}
	switch {
	case state.verdict == solRefused:
		return turn, nil, blocked(state.since)
	case state.verdict == solUnproven && state.proving != nil:
		return turn, state.proving, nil
	case state.verdict == solUnproven:
		state.proving, turn.prover = make(chan struct{}), true
	}
	return turn, nil, nil
}

// leave takes note of what came of a credential. An answer that was under way when the credential was
// refused does not prove it again.
func (g *solGuard) leave(t solTurn, verdict solVerdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if verdict == solRefused || verdict == solProven && t.state.verdict != solRefused {
		t.state.verdict, t.state.since = verdict, time.Now()
		g.known.Add(t.id, t.state) // it may have been pushed out by ten thousand others
	}
	if t.prover {
		close(t.state.proving)
		t.state.proving = nil
	}
}

func (g *solGuard) forget(c CredencialesSOL) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if state, ok := g.known.Get(g.credential(c)); ok && state.verdict == solRefused {
		state.verdict = solUnproven
	}
}

func blocked(since time.Time) *Error {
	return &Error{kind: ErrSOLCredentialsBlocked, Message: "this SOL user and clave were refused at " + since.UTC().Format(time.RFC3339)}
}

// enterSOL waits for the turn of the call's credential, in this process and then in the fleet. What it
// returns takes note of how the call ended.
func (c *call) enterSOL() (learn func(error), err error) {
	if c.request.sol == nil {
		return func(error) {}, nil
	}
	guard, patience := c.client.sol, c.timeout
	turn, err := guard.enter(c.ctx, *c.request.sol, patience)
	if err != nil {
		return nil, err
	}
	conclude := func(v solVerdict) { // of a credential that this process knows to be good, only bad news are news
		if v == solRefused {
			c.client.conclude(c.client.credentialName(*c.request.sol), Claim{State: ClaimProven}, v)
		}
	}
	if turn.prover {
		var known solVerdict
		if known, conclude, err = c.client.claim(c.ctx, *c.request.sol, patience); known != solUnproven || err != nil {
			guard.leave(turn, known)
			turn.prover = false
		}
	}
	return func(err error) {
		verdict := c.solVerdict(err)
		guard.leave(turn, verdict)
		conclude(verdict)
	}, err
}

// solVerdict says what the end of a validation proves of its credential. A 401 that does not say what
// it refuses may mean the clave; one more try could be the one that blocks the user.
func (c *call) solVerdict(err error) solVerdict {
	var e *Error
	switch {
	case err == nil && c.answer.provesSOL:
		return solProven
	case errors.Is(err, ErrInvalidSOLCredentials):
		return solRefused
	case errors.As(err, &e) && c.answer.status == http.StatusUnauthorized && visible(e.Code) == "":
		return solRefused
	}
	return solUnproven
}
