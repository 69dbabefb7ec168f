package fiscope

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/solguard"
)

// solGuard keeps a SOL user from being blocked by us, with what this process and its fleet know of each
// credential.
type solGuard struct {
	here     *solguard.Guard
	fleet    *fleet        // nil for none
	required bool          // nothing is sent without the fleet's word
	memory   time.Duration // of a verdict
	attempt  time.Duration // the longest of a validation
	clock    clock
}

// solTurn is a validation's permission to send its credential. All but abandon is called by the goroutine
// that sends it.
type solTurn struct {
	guard      *solGuard
	credential *CredencialesSOL
	here       solguard.Turn
	claim      *solClaim // what the fleet granted; nil for nothing

	mu        sync.Mutex
	abandoned bool // the caller has left
	attempts  int  // that were handed to the transport
	sent      bool // ... and the last of them may have reached the service
	goesOn    bool // ... and is under way, whether its caller leaves or not
}

// enter waits until this process may send a credential, at most for the time of an attempt, and refuses
// one that is known to be refused. The turn that it returns must be left.
func (g *solGuard) enter(ctx context.Context, c *CredencialesSOL) (*solTurn, error) {
	turn, err := g.here.Enter(ctx, g.here.Credential(c.RUC, c.Usuario, c.Clave.text()), g.attempt)
	if err != nil {
		return nil, err
	}
	return &solTurn{guard: g, credential: c, here: turn}, nil
}

// maySend is asked after all waits, so that what was learned while it waited counts, and
// the fleet's claim is not used up by waiting. It asks the fleet each time: others may have been refused since
// this process was accepted. It waits while another process tries the credential.
func (t *solTurn) maySend(ctx context.Context) error {
	recent := !t.here.Alone()
	claim, err := t.guard.fleet.claim(ctx, t.credential, recent, t.guard.attempt)
	switch {
	case errors.Is(err, errUnsure) && t.guard.required:
		return cmp.Or(t.here.Refused(), err)
	case err != nil && !errors.Is(err, errUnsure):
		return err
	case claim == nil: // what is known here is all there is
	case claim.State == ClaimRefused:
		now := time.Now()
		until := now.Add(t.guard.memory)
		if !claim.Until.IsZero() && claim.Until.Before(until) {
			until = claim.Until
		}
		t.here.Block(t.guard.clock.fromReal(cmp.Or(claim.Since, now)), t.guard.clock.fromReal(until))
	case claim.State == ClaimProven:
		t.here.Accepted(t.guard.clock.fromReal(cmp.Or(claim.Since, time.Now())))
	default:
		t.claim = claim
		if !claim.accepted.IsZero() { // then an unexplained refusal blocks for minutes
			t.here.Accepted(t.guard.clock.fromReal(claim.accepted))
		}
	}
	return t.here.Refused()
}

// depart is called last before an attempt's request is sent. It returns the request's context, which does
// not end with the caller where the credential is not proven, or why it may not be sent.
func (t *solTurn) depart(ctx context.Context) (context.Context, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); t.abandoned || err != nil {
		return nil, cmp.Or(err, context.Canceled)
	}
	t.attempts, t.sent, t.goesOn = t.attempts+1, true, t.here.Alone()
	if !t.goesOn {
		return ctx, nil
	}
	return context.WithoutCancel(ctx), nil
}

// returned takes note of what came of an attempt, before anybody else is told. After one that reached nobody,
// the fleet's claim is given back: the next attempt asks anew.
func (t *solTurn) returned(ctx context.Context, a exchange.Answer) {
	t.mu.Lock()
	t.sent, t.goesOn = !a.Unsent, false
	t.mu.Unlock()
	if a.Unsent {
		t.guard.fleet.release(ctx, t.claim)
		t.claim = nil
	}
}

// abandon takes note that the caller has left. It reports whether the request goes on without him; otherwise
// what comes of it is in hand, or ends with him, and it is not sent any more.
func (t *solTurn) abandon() (attempts int, goesOn bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned = true
	return t.attempts, t.goesOn
}

// leave takes note, here and then in the fleet, of what came of the credential.
func (t *solTurn) leave(ctx context.Context, v solguard.Verdict) {
	memory := t.guard.memory
	if blocked := t.here.Leave(v); blocked > 0 {
		memory = blocked
	}
	t.guard.fleet.conclude(ctx, t.credential, t.claim, v, memory)
}

// forget lets a refused credential be sent again.
func (g *solGuard) forget(c CredencialesSOL) {
	g.here.Forget(g.here.Credential(c.RUC, c.Usuario, c.Clave.text()))
	g.fleet.forget(&c, g.attempt)
}
