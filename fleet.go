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

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/remote"
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

	// The store in its three parts: that it hangs in one of them says nothing of the others.
	answers, quota, credentials remote.Peer

	mu   sync.Mutex
	owed map[string]time.Time // refusals that the store could not be told, by name, and their ends
}

// newFleet returns the use of a store. start runs what is asked and told in a goroutine, and lost is told of
// the store's panics that are raised nowhere.
func newFleet(s Store, baseURL string, apiKey Secreto, clock clock, start func(func()), lost func(*broken.Panic)) *fleet {
	if s == nil {
		return nil
	}
	f := &fleet{store: s, baseURL: baseURL, apiKey: apiKey, clock: clock, owed: map[string]time.Time{}}
	f.account = f.name("account")
	for _, part := range []*remote.Peer{&f.answers, &f.quota, &f.credentials} {
		part.Go, part.Lost = start, lost
	}
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

// How long a store may take.
const (
	loadingTime   = time.Second             // for an answer: without it, it costs a query
	decidingTime  = 3 * time.Second         // to say what may be sent: it may be waiting for its server
	leastDeciding = 1250 * time.Millisecond // of that, for who has less time: more than a Store needs that asks its server again for a second
	tellingTime   = time.Second             // to be told what came of something
)

// How long the store may say that another process is finding out how much is left of the quota: longer than
// an attempt takes, and the next one's after it.
const findingTime = time.Minute

// decide asks the store what may be sent. A caller with a deadline keeps half of his time for the service, and
// waits for leastDeciding at least: that the store hangs shows after its own time.
func decide[A any](ctx context.Context, part *remote.Peer, question func(context.Context) (A, error), late func(context.Context, A)) (A, error) {
	if deadline, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(leastDeciding, time.Until(deadline)/2))
		defer cancel()
	}
	return remote.Ask(ctx, part, decidingTime, question, late)
}

// reserve asks the store for a query of which keep are left to others. It returns nil without a fleet,
// and where the store hangs or fails: then the client's own gate is all there is.
func (f *fleet) reserve(ctx context.Context, keep int) (*Reservation, error) {
	if f == nil {
		return nil, nil
	}
	ask := func(ctx context.Context) (Reservation, error) { return f.store.Reserve(ctx, f.account, keep) }
	giveBack := func(ctx context.Context, r Reservation) {
		if r.Grant == QuotaGranted {
			_ = f.store.Settle(ctx, f.account, r, Outcome{})
		}
	}
	until := time.Now().Add(findingTime)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		r, err := decide(ctx, &f.quota, ask, giveBack)
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
			return nil, f.spent(r, keep)
		case r.Grant != QuotaWait, !time.Now().Before(until):
			return nil, quota.ErrAway
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// spent is what a store says that has no query left but those that are kept for others. What cannot be is
// not repeated: a reset is as near as one of a header.
func (f *fleet) spent(r Reservation, keep int) *quota.Spent {
	s := &quota.Spent{Left: min(max(0, r.Left), keep), Reserve: keep}
	if left := time.Until(r.Until); left > 0 && left < farthestReset {
		s.Until = f.clock.fromReal(r.Until)
	}
	return s
}

// settle tells the store what came of a reservation, also when the caller has gone.
func (f *fleet) settle(ctx context.Context, r *Reservation, o Outcome) {
	if r == nil {
		return
	}
	of := *r
	f.quota.Tell(ctx, "", tellingTime, func(ctx context.Context) { _ = f.store.Settle(ctx, f.account, of, o) })
}

// solClaim is what the store says of a credential, and under which name it granted that it is sent.
type solClaim struct {
	Claim
	name     string
	accepted time.Time // too long ago to be sent by all at once; zero for never
}

// The longest time for which a claim is held: who holds it may have died.
const longestHold = 24 * time.Hour

// hold returns for how long a claim is held: longer than it takes to learn of it, to make an attempt, and to
// tell what came of it.
func hold(attempt time.Duration) time.Duration {
	return min(attempt, longestHold) + decidingTime + tellingTime
}

// claim asks the store whether a credential (RUC, usuario and clave) may be sent by this process, and
// waits, at most for patience, while another process tries it. It returns nil without a fleet, and where
// the store hangs or fails: then the turn within this process is all there is.
func (f *fleet) claim(ctx context.Context, credential []string, patience time.Duration) (*solClaim, error) {
	if f == nil {
		return nil, nil
	}
	ask := func(ctx context.Context) (solClaim, error) {
		_ = f.tellOwed(ctx)
		return f.askClaim(ctx, credential, hold(patience))
	}
	waiting, cancel := context.WithTimeoutCause(ctx, patience, solguard.ErrImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		claim, err := decide(ctx, &f.credentials, ask, f.giveBack)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, nil
		case err == nil && (claim.State == ClaimGranted || claim.State == ClaimProven || claim.State == ClaimRefused):
			return &claim, nil // any other state is waited for, as ClaimBusy is
		}
		if err := sleep(waiting, pause); err != nil {
			if errors.Is(context.Cause(waiting), solguard.ErrImpatient) {
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
	claim.Since = past(claim.Since)
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

// past returns when something was that a store tells of: now where that is later by our clock, and zero for
// zero in any zone.
func past(t time.Time) time.Time {
	now := time.Now()
	switch {
	case t.IsZero():
		return time.Time{}
	case t.After(now):
		return now
	}
	return t
}

// conclude tells the store what came of a credential: everything where it granted a claim, and otherwise
// only a refusal. One that the store cannot be told is owed to it.
func (f *fleet) conclude(ctx context.Context, credential []string, claim *solClaim, v solguard.Verdict, memory time.Duration) {
	refused := v == solguard.Rejected || v == solguard.Doubtful
	if f == nil || claim == nil && !refused {
		return
	}
	name := f.credential(credential)
	if refused {
		f.owe(name, time.Now().Add(memory))
	}
	f.credentials.Tell(ctx, name, tellingTime, func(ctx context.Context) {
		granted := claim != nil && claim.name == name
		switch {
		case granted:
			f.tell(ctx, name, claim.Claim, v, memory)
		case refused, v == solguard.Proven:
			f.tell(ctx, name, Claim{State: ClaimProven}, v, memory)
		}
		if claim != nil && !granted {
			f.giveBack(ctx, *claim)
		}
	})
}

// tell tells the store a verdict.
func (f *fleet) tell(ctx context.Context, name string, c Claim, v solguard.Verdict, memory time.Duration) {
	verdict := map[solguard.Verdict]Verdict{
		solguard.Unproven:   VerdictNone,
		solguard.Unanswered: VerdictNone,
		solguard.Proven:     VerdictProven,
		solguard.Rejected:   VerdictRefused,
		solguard.Doubtful:   VerdictRefused,
	}[v]
	if f.store.Conclude(ctx, name, c, verdict, memory) == nil && verdict == VerdictRefused {
		f.owe(name, time.Time{})
	}
}

// giveBack is release in the goroutine that tells it.
func (f *fleet) giveBack(ctx context.Context, c solClaim) {
	if c.State == ClaimGranted {
		f.tell(ctx, c.name, c.Claim, solguard.Unproven, 0)
	}
}

// release gives a claim back of which nothing came.
func (f *fleet) release(ctx context.Context, c *solClaim) {
	if f == nil || c == nil {
		return
	}
	of := *c
	f.credentials.Tell(ctx, of.name, tellingTime, func(ctx context.Context) { f.giveBack(ctx, of) })
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

// forget makes the store forget that a credential was refused, and waits for that: the caller is about to
// send it again. That it was accepted, or that somebody tries it now, stays.
func (f *fleet) forget(credential []string, attempt time.Duration) {
	if f == nil {
		return
	}
	name := f.credential(credential)
	f.owe(name, time.Time{})
	<-f.credentials.Tell(context.Background(), name, tellingTime, func(ctx context.Context) {
		claim, err := f.store.Claim(ctx, name, hold(attempt))
		switch {
		case err != nil, claim.State == ClaimRefused:
			_ = f.store.Forget(ctx, name)
		default:
			f.giveBack(ctx, solClaim{Claim: claim, name: name})
		}
	})
}

// load returns what the store keeps under the name of an answer, and nil for nothing.
func (f *fleet) load(ctx context.Context, question []string) []byte {
	if f == nil {
		return nil
	}
	value, err := remote.Ask(ctx, &f.answers, loadingTime, func(ctx context.Context) ([]byte, error) {
		return f.store.Load(ctx, f.answer(question))
	}, nil)
	if err != nil {
		return nil
	}
	return value
}

// save shares what value returns, unless that is nil; it may load what is there before. A store that hangs or
// fails costs the others a query, and this call nothing.
func (f *fleet) save(ctx context.Context, question []string, value func(context.Context) []byte, ttl time.Duration) {
	name := f.answer(question)
	f.answers.Tell(ctx, name, tellingTime, func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		start := time.Now()
		if v := value(ctx); v != nil {
			ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline.Add(time.Since(start))) // what it loads has a time of its own
			defer cancel()
			_ = f.store.Save(ctx, name, v, ttl)
		}
	})
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
