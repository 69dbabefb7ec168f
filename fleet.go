package fiscope

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
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
	clock   clock

	mu   sync.Mutex
	owed map[string]time.Time // refusals that the store could not be told, by name, and their ends
}

func newFleet(s Store, baseURL string, apiKey Secreto, clock clock) *fleet {
	if s == nil {
		return nil
	}
	f := &fleet{store: s, baseURL: baseURL, apiKey: apiKey, clock: clock, owed: map[string]time.Time{}}
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
			return nil, &quota.Spent{Left: r.Left, Reserve: keep, Until: f.clock.fromReal(r.Until)}
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

// solClaim is what the store says of a credential, and under which name it granted that it is sent.
type solClaim struct {
	Claim
	name     string
	accepted time.Time // too long ago to be sent by all at once; zero for never
}

// claim asks the store whether a credential (RUC, usuario and clave) may be sent by this process, and
// waits, at most for patience, while another process tries it. It returns nil without a fleet, and where
// the store fails: then the turn within this process is all there is.
func (f *fleet) claim(ctx context.Context, credential []string, patience time.Duration) (*solClaim, error) {
	if f == nil {
		return nil, nil
	}
	_ = f.tellOwed(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, solguard.ErrImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		claim, err := f.askClaim(ctx, credential, patience+tellingTime)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, nil
		case err == nil && (claim.State == ClaimGranted || claim.State == ClaimProven || claim.State == ClaimRefused):
			return &claim, nil // any other state is waited for, as ClaimBusy is
		}
		if err := sleep(ctx, pause); err != nil {
			if errors.Is(context.Cause(ctx), solguard.ErrImpatient) {
				err = solguard.ErrImpatient
			}
			return nil, err
		}
	}
}

// askClaim asks the store once. A credential that was accepted, but too long ago to be sent by all at
// once, has a second name, under which one process goes first again.
func (f *fleet) askClaim(ctx context.Context, credential []string, hold time.Duration) (solClaim, error) {
	name := f.credential(credential)
	claim, err := f.store.Claim(ctx, name, hold)
	if err != nil || claim.State != ClaimProven || claim.Since.IsZero() || time.Since(claim.Since) < solguard.Recent {
		return solClaim{Claim: claim, name: name}, err
	}
	accepted := claim.Since
	again := f.name("sol again", credential...)
	claim, err = f.store.Claim(ctx, again, hold)
	if claim.State != ClaimGranted {
		claim.State = ClaimBusy
	}
	return solClaim{claim, again, accepted}, err
}

// conclude tells the store what came of a credential: everything where it granted a claim, and otherwise
// only a refusal. One that the store cannot be told is owed to it.
func (f *fleet) conclude(credential []string, claim *solClaim, v solguard.Verdict, memory time.Duration) {
	if f == nil {
		return
	}
	name := f.credential(credential)
	granted := claim != nil && claim.name == name
	refused := v == solguard.Rejected || v == solguard.Doubtful
	if refused {
		f.owe(name, time.Now().Add(memory))
	}
	switch {
	case granted:
		f.tell(name, claim.Claim, v, memory)
	case refused, claim != nil && v == solguard.Proven:
		f.tell(name, Claim{State: ClaimProven}, v, memory)
	}
	if !granted {
		f.release(claim)
	}
}

// tell tells the store a verdict.
func (f *fleet) tell(name string, c Claim, v solguard.Verdict, memory time.Duration) {
	verdict := map[solguard.Verdict]Verdict{
		solguard.Unproven:   VerdictNone,
		solguard.Unanswered: VerdictNone,
		solguard.Proven:     VerdictProven,
		solguard.Rejected:   VerdictRefused,
		solguard.Doubtful:   VerdictRefused,
	}[v]
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	if f.store.Conclude(ctx, name, c, verdict, memory) == nil && verdict == VerdictRefused {
		f.owe(name, time.Time{})
	}
}

// release gives a claim back of which nothing came.
func (f *fleet) release(c *solClaim) {
	if f == nil || c == nil {
		return
	}
	f.tell(c.name, c.Claim, solguard.Unproven, 0)
}

// How many refusals are kept for a store that cannot be told.
const mostOwed = 1000

// owe keeps a refusal for the store, which is to remember it until then; with the zero time it is told.
func (f *fleet) owe(name string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until.IsZero() {
		delete(f.owed, name)
	} else if len(f.owed) < mostOwed {
		f.owed[name] = until
	}
}

// tellOwed tells the store the refusals that it could not be told, and stops at the first failure.
func (f *fleet) tellOwed(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	owed := maps.Clone(f.owed)
	f.mu.Unlock()
	for name, until := range owed {
		if left := time.Until(until); left > 0 {
			ctx, cancel := context.WithTimeout(ctx, tellingTime)
			err := f.store.Conclude(ctx, name, Claim{State: ClaimProven}, VerdictRefused, left)
			cancel()
			if err != nil {
				return err
			}
		}
		f.owe(name, time.Time{})
	}
	return nil
}

// forget makes the store forget that a credential was refused. That it was accepted, or that somebody
// tries it now, stays.
func (f *fleet) forget(credential []string, hold time.Duration) {
	if f == nil {
		return
	}
	name := f.credential(credential)
	f.owe(name, time.Time{})
	ctx, cancel := context.WithTimeout(context.Background(), tellingTime)
	defer cancel()
	claim, err := f.store.Claim(ctx, name, hold+tellingTime)
	switch {
	case err != nil, claim.State == ClaimRefused:
		_ = f.store.Forget(ctx, name)
	case claim.State == ClaimGranted:
		f.release(&solClaim{Claim: claim, name: name})
	}
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
