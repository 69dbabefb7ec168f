package fiscope

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/solguard"
)

// fleet is how a client uses its Store: under which names, how long it waits for other processes, and
// what it does where the store fails. A nil fleet is a client without a Store.
type fleet struct {
	store   Store
	baseURL string
	apiKey  Secreto
	account string // the name of the service and the API key
}

func newFleet(s Store, baseURL string, apiKey Secreto) *fleet {
	if s == nil {
		return nil
	}
	f := &fleet{store: s, baseURL: baseURL, apiKey: apiKey}
	f.account = f.name("account")
	return f
}

// name returns the name under which the store knows something: nobody without the API key can tell what,
// or try which clave it may be.
func (f *fleet) name(kind string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(f.apiKey.text()))
	for _, part := range append([]string{f.baseURL, kind}, parts...) {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part) // a hash takes everything
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func (f *fleet) credential(parts []string) string { return f.name("sol", parts...) }

func (f *fleet) answer(question []string) string { return f.name("answer", question...) }

// How often a store is asked again while another process finds something out.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// How long a store may take to be told what came of something, whatever the caller's context says.
const tellingTime = 2 * time.Second

// reserve asks the store for a query of which keep are left to others. It returns nil without a fleet,
// and where the store fails: then the client's own gate is all there is.
func (f *fleet) reserve(ctx context.Context, keep int) (*Reservation, error) {
	if f == nil {
		return nil, nil
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		r, err := f.store.Reserve(ctx, f.account, keep)
		switch {
		case ctx.Err() != nil:
			if err == nil && r.Grant == QuotaGranted {
				f.settle(ctx, &r, Outcome{}) // nobody sends it
			}
			return nil, ctx.Err()
		case err != nil:
			return nil, nil
		case r.Grant == QuotaGranted:
			return &r, nil
		case r.Grant == QuotaSpent:
			return nil, &quota.Spent{Left: r.Left, Reserve: keep, Until: r.Until}
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// settle tells the store what came of a reservation, also when the caller has gone.
func (f *fleet) settle(ctx context.Context, r *Reservation, o Outcome) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellingTime)
	defer cancel()
	_ = f.store.Settle(ctx, f.account, *r, o)
}

// claim asks the store for the turn of a credential (RUC, usuario and clave) of which this process knows
// nothing, and waits, at most for patience, while another process tries it. It returns nil without a fleet, and where the store
// fails: then the turn within this process is all there is.
func (f *fleet) claim(ctx context.Context, credential []string, patience time.Duration) (*Claim, error) {
	if f == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, solguard.ErrImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		claim, err := f.store.Claim(ctx, f.credential(credential), patience+tellingTime)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, nil
		case err == nil && claim.State != ClaimBusy:
			return &claim, nil
		}
		if err := sleep(ctx, pause); err != nil {
			if errors.Is(context.Cause(ctx), solguard.ErrImpatient) {
				err = solguard.ErrImpatient
			}
			return nil, err
		}
	}
}

// conclude tells the store what came of a claim: everything of one that it granted, and of a credential
// that was proven before only that it is refused now.
func (f *fleet) conclude(credential []string, claim *Claim, v solguard.Verdict, memory time.Duration) {
	if f == nil || claim == nil || claim.State != ClaimGranted && v != solguard.Rejected {
		return
	}
	verdict := map[solguard.Verdict]Verdict{
		solguard.Unproven: VerdictNone,
		solguard.Proven:   VerdictProven,
		solguard.Rejected: VerdictRefused,
	}[v]
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	_ = f.store.Conclude(ctx, f.credential(credential), *claim, verdict, memory)
}

// verdictOf returns what the store knows of a credential.
func verdictOf(c *Claim) solguard.Verdict {
	switch {
	case c == nil:
		return solguard.Unproven
	case c.State == ClaimProven:
		return solguard.Proven
	case c.State == ClaimRefused:
		return solguard.Rejected
	}
	return solguard.Unproven
}

// forget makes the store forget what it knows of a credential.
func (f *fleet) forget(credential []string) {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	_ = f.store.Forget(ctx, f.credential(credential))
}

// load returns what the store keeps under the name of an answer, and nil for nothing.
func (f *fleet) load(ctx context.Context, question []string) []byte {
	if f == nil {
		return nil
	}
	value, err := f.store.Load(ctx, f.answer(question))
	if err != nil {
		return nil
	}
	return value
}

// save shares an answer. A store that fails costs the others a query, and this call nothing.
func (f *fleet) save(ctx context.Context, question []string, value []byte, ttl time.Duration) {
	_ = f.store.Save(ctx, f.answer(question), value, ttl)
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
