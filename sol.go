package fiscope

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/solguard"
	"github.com/fiscope/fiscope/store"
)

// solGuard keeps this client from blocking a SOL user, using what this process and the Store know about each
// credential.
type solGuard struct {
	here   *solguard.Guard
	shared *sharedStore // nil for none
	clock  calendar
	runner *flight.Runner
}

// credential returns a credential as internal/solguard identifies it.
func (g *solGuard) credential(c *CredencialesSOL) solguard.Credential {
	return g.here.Credential(c.RUC, c.Usuario, c.Clave.text())
}

// permits sends a validation if its credential is permitted, and records the verdict. An unproven credential is sent in
// the background: its refusal counts even if the caller left.
func (g *solGuard) permits(next ask) ask {
	recordVerdict := func(ctx context.Context, q *question) (*answer, error) {
		defer func() { g.release(ctx, q.permit) }()
		return next(ctx, q)
	}
	return func(ctx context.Context, q *question) (*answer, error) {
		waiting, cancel := q.set.beforeSending(ctx)
		defer cancel()
		p, err := g.acquire(waiting, q.request.sol, q.set.cpeTimeout)
		if err != nil {
			return nil, g.refusal(tooClose(ctx, waiting, err))
		}
		q.permit = p
		if !p.Background || ctx.Err() != nil { // a cancelled call sends nothing
			return recordVerdict(ctx, q)
		}
		q.background = new(background)
		a, err := flight.Detached(ctx, g.runner, func(ctx context.Context) (*answer, error) { return recordVerdict(ctx, q) }, nil)
		if a == nil {
			a = q.background.soFar()
		}
		return a, err
	}
}

// refusal returns the error of a validation that may not be sent.
func (g *solGuard) refusal(err error) error {
	var blocked *solguard.Refused
	switch {
	case errors.As(err, &blocked):
		e := newError(solBlocked, "%s", blocked)
		if e.RetryAfter = max(0, blocked.Until.Sub(g.clock.now())); blocked.Unexplained {
			e.outcome = solDoubted
		}
		return e
	case errors.Is(err, errStoreAway):
		e := newError(storeAway, "%s", err)
		e.RetryAfter, e.cause = storePause, err
		return e
	case errors.Is(err, solguard.ErrBusy):
		e := newError(solBusy, "%s", solguard.ErrBusy)
		e.cause = err
		return e
	}
	return err
}

// acquire waits until this process may send a credential. A remembered block counts only if the Store has it too, since
// another process may have lifted it.
func (g *solGuard) acquire(ctx context.Context, c *CredencialesSOL, patience time.Duration) (*permit, error) {
	p, err := g.here.Acquire(ctx, g.credential(c), patience)
	var refused *solguard.Refused
	if errors.As(err, &refused) && g.shared != nil && g.freed(ctx, c, patience, refused) {
		g.here.Forget(g.credential(c))
		p, err = g.here.Acquire(ctx, g.credential(c), patience)
	}
	if err != nil {
		return nil, err
	}
	return &permit{Permit: p, credential: c, patience: patience}, nil
}

// freed reports whether the Store no longer has a refusal. A refusal that never reached the Store is written now,
// unless the credential was accepted since.
func (g *solGuard) freed(ctx context.Context, c *CredencialesSOL, patience time.Duration, refused *solguard.Refused) bool {
	claim, err := g.shared.claim(ctx, c, hold(patience))
	if err != nil || claim.State == store.ClaimRefused {
		return false
	}
	accepted, _ := g.proof(claim)
	if refused.Private && !accepted.After(refused.Since) {
		_ = g.share(ctx, c, claim, store.VerdictRefused, refused.Until.Sub(g.clock.now()))
		return false
	}
	if claim.State == store.ClaimGranted { // nothing is sent yet: give it back
		_ = g.share(ctx, c, claim, store.VerdictNone, 0)
	}
	return true
}

// release records the verdict, in this process and then in the Store.
func (g *solGuard) release(ctx context.Context, p *permit) {
	v := p.verdict(ctx)
	var least time.Duration
	if v == solguard.Doubtful && p.granted && p.claim.Since.IsZero() { // no acceptance came after the last doubt
		least = 2 * g.shared.doubt(ctx, p.credential)
	}
	counts := p.Release(v, least)
	if g.shared == nil {
		return
	}
	switch {
	case v == solguard.Rejected:
		_ = g.share(ctx, p.credential, p.claim, store.VerdictRefused, refusalInStore)
	case v == solguard.Doubtful && counts > 0:
		_ = g.shared.setDoubt(ctx, p.credential, counts)
		_ = g.share(ctx, p.credential, p.claim, store.VerdictRefused, counts)
	case counts > 0 && (p.granted || time.Since(p.claim.Since) > provenAgain):
		_ = g.share(ctx, p.credential, p.claim, store.VerdictProven, counts)
	case p.granted:
		_ = g.share(ctx, p.credential, p.claim, store.VerdictNone, 0)
	}
}

// verdict says what the last answer proves about the credential.
func (p *permit) verdict(ctx context.Context) solguard.Verdict {
	switch {
	case p.last == nil:
	case p.last.Status == 0 && !p.last.Unsent && ctx.Err() != nil:
		return solguard.Cut
	case p.last.outcome == solRefused:
		return solguard.Rejected
	case p.last.outcome == unexplained:
		return solguard.Doubtful
	case p.last.provesSOL:
		return solguard.Proven
	case p.last.Status == http.StatusOK, p.last.Status != 0 && outcomes[p.last.outcome].away == unusable:
		return solguard.Answered
	}
	return solguard.Nothing
}

// forget permits a refused credential again.
func (g *solGuard) forget(ctx context.Context, c *CredencialesSOL) error {
	g.here.Forget(g.credential(c))
	if g.shared == nil {
		return nil
	}
	return cmp.Or(g.share(ctx, c, store.Claim{}, store.VerdictForget, 0), g.shared.setDoubt(ctx, c, 0))
}
