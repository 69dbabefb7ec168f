package fiscope

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/fiscope/fiscope/internal/solguard"
	"github.com/fiscope/fiscope/store"
)

// claims asks the Store right before each attempt of a validation, so that other processes' verdicts count.
func (g *solGuard) claims(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		p := q.permit
		waiting, cancel := q.set.beforeSending(ctx)
		defer cancel()
		if err := g.maySend(waiting, p); err != nil {
			return nil, g.refusal(tooClose(ctx, waiting, err))
		}
		a, err := next(ctx, q)
		p.last = a // before the Store is updated
		if p.granted && (a == nil || a.Unsent) {
			p.granted = false // the next attempt asks again
			_ = g.share(ctx, p.credential, p.claim, store.VerdictNone, 0)
		}
		return a, err
	}
}

// maySend waits while another process tries the credential. If the Store is away, a credential that was accepted here
// within a day may be sent.
func (g *solGuard) maySend(ctx context.Context, p *permit) error {
	if g.shared == nil {
		return p.Refused()
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.patience, solguard.ErrBusy)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		claim, err := g.shared.claim(limited, p.credential, hold(p.patience))
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errStoreAway) && p.Proven(), claim.State == store.ClaimBusy && !p.Alone:
			return p.Refused()
		case err != nil:
			return cmp.Or(context.Cause(limited), err)
		case claim.State == store.ClaimGranted, claim.State == store.ClaimProven:
			p.claim, p.granted = claim, claim.State == store.ClaimGranted
			p.Accepted(g.proof(claim))
			return p.Refused()
		case claim.State == store.ClaimRefused:
			p.Block(g.clock.fromReal(claim.Since), g.clock.fromReal(claim.Until))
			return p.Refused()
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-limited.Done():
			return context.Cause(limited)
		}
	}
}

// claim asks the Store whether a credential may be sent. A claim granted after its caller left is given back.
func (s *sharedStore) claim(ctx context.Context, c *CredencialesSOL, longest time.Duration) (store.Claim, error) {
	name := s.solName(c)
	return askStore(ctx, s, func(ctx context.Context) (store.Claim, error) {
		return s.store.Claim(ctx, name, longest)
	}, func(ctx context.Context, claim store.Claim) error {
		if claim.State != store.ClaimGranted {
			return nil
		}
		return s.store.Record(ctx, name, claim, store.VerdictNone, 0)
	})
}

// share writes a verdict to the Store and waits for it. A refusal that cannot be written is marked private.
func (g *solGuard) share(ctx context.Context, c *CredencialesSOL, claim store.Claim, v store.Verdict, memory time.Duration) error {
	name := g.shared.solName(c)
	err := g.shared.writeNow(ctx, func(ctx context.Context) error { return g.shared.store.Record(ctx, name, claim, v, memory) })
	if v == store.VerdictRefused {
		g.here.SetPrivate(g.credential(c), err != nil)
	}
	return err
}

// doubt returns how long the last unexplained refusal of a credential blocked it, for any process; 0 if unknown.
func (s *sharedStore) doubt(ctx context.Context, c *CredencialesSOL) time.Duration {
	value := s.load(context.WithoutCancel(ctx), s.name("doubt", c.parts()...))
	last, _ := time.ParseDuration(string(value))
	return last
}

// setDoubt writes it, for as long as a living process would know it.
func (s *sharedStore) setDoubt(ctx context.Context, c *CredencialesSOL, last time.Duration) error {
	return s.writeNow(ctx, func(ctx context.Context) error {
		return s.store.Save(ctx, s.name("doubt", c.parts()...), []byte(last.String()), last+solguard.Memory)
	})
}

// proof returns when the credential was accepted for any process, and when that was renewed; zero if that is unknown.
func (g *solGuard) proof(c store.Claim) (accepted, renewed time.Time) {
	if c.State == store.ClaimRefused || c.Since.IsZero() {
		return accepted, renewed
	}
	accepted = c.Since
	if !c.Until.IsZero() {
		accepted = c.Until.Add(-solguard.Memory)
	}
	return g.clock.fromReal(accepted), g.clock.fromReal(c.Since)
}

// hold is the longest duration of a claim: an attempt and the write of its verdict.
func hold(attempt time.Duration) time.Duration { return attempt + 3*storeTimeout }

// provenAgain is the age at which the Store's proof is renewed.
const provenAgain = 5 * time.Minute

// refusalInStore is how long the Store keeps a refusal: a nightly job with a wrong clave is refused once, not every
// night.
const refusalInStore = 30 * 24 * time.Hour
