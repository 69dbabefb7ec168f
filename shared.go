package fiscope

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// How often a store is asked again while another process finds something out.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// How long a store may take to be told what came of something, whatever the caller's context says.
const tellingTime = 2 * time.Second

// reserve asks the store for a query. It returns nil where there is no store, or where it fails: then the
// client's own gate is all there is.
func (c *call) reserve(ctx context.Context) (*Reservation, error) {
	if c.client.store == nil || c.client.quota == nil {
		return nil, nil
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		r, err := c.client.store.Reserve(ctx, c.client.account, c.settings.reserve)
		switch {
		case ctx.Err() != nil:
			if err == nil && r.Grant == QuotaGranted {
				c.settle(&r, 0, new(answer)) // nobody sends it
			}
			return nil, ctx.Err()
		case err != nil:
			return nil, nil
		case r.Grant == QuotaGranted:
			return &r, nil
		case r.Grant == QuotaSpent:
			return nil, spent(r.Left, c.settings.reserve, r.Until)
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// settle tells the store what came of a reservation, also when the caller has gone.
func (c *call) settle(r *Reservation, written int, a *answer) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), tellingTime)
	defer cancel()
	_ = c.client.store.Settle(ctx, c.client.account, *r, Outcome{Written: written, StatusCode: a.status, RateLimit: a.rateLimit.copy()})
}

// claim asks the store about a credential that this process knows nothing of, and waits, at most for
// patience, while another process tries it. What it returns tells the store what came of it.
func (c *Client) claim(ctx context.Context, credenciales CredencialesSOL, patience time.Duration) (verdict solVerdict, conclude func(solVerdict), err error) {
	nothing := func(solVerdict) {}
	if c.store == nil {
		return solUnproven, nothing, nil
	}
	id := c.credentialName(credenciales)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		claim, err := c.store.Claim(ctx, id, patience+tellingTime)
		switch {
		case err != nil && ctx.Err() == nil:
			return solUnproven, nothing, nil
		case err != nil: // the context is over: so the pause says
		case claim.State == ClaimGranted:
			return solUnproven, func(v solVerdict) { c.conclude(id, claim, v) }, nil
		case claim.State == ClaimProven:
			return solProven, func(v solVerdict) {
				if v == solRefused {
					c.conclude(id, claim, v)
				}
			}, nil
		case claim.State == ClaimRefused:
			return solRefused, nothing, blocked(claim.Since)
		}
		if err := sleep(ctx, pause); err != nil {
			if errors.Is(context.Cause(ctx), errImpatient) {
				err = &Error{kind: ErrUnavailable, Message: errImpatient.Error()}
			}
			return solUnproven, nothing, err
		}
	}
}

func (c *Client) conclude(id string, claim Claim, v solVerdict) {
	if c.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	verdicts := map[solVerdict]Verdict{solUnproven: VerdictNone, solProven: VerdictProven, solRefused: VerdictRefused}
	_ = c.store.Conclude(ctx, id, claim, verdicts[v], c.sol.memory)
}

func (c *Client) credentialName(credenciales CredencialesSOL) string {
	return c.name("sol", credenciales.RUC, credenciales.Usuario, credenciales.Clave.text())
}

// sleep waits for about d, so that those who wait for the same do not ask together.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spent is the refusal of a query that would go into the reserve, or beyond the quota.
func spent(left, reserve int, until time.Time) *Error {
	e := &Error{kind: ErrQuotaExceeded, Message: "no queries are left"}
	if reserve > 0 {
		e.Message = fmt.Sprintf("%d queries are left, and %d are kept in reserve", left, reserve)
	}
	if !until.IsZero() {
		e.Message += " until " + until.UTC().Format(time.RFC3339)
		e.RetryAfter = time.Until(until)
	}
	return e
}
