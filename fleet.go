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
	"slices"
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

	mu        sync.Mutex
	owed      map[string]time.Time // refusals that the store could not be told, by name, and their ends
	reminding bool                 // it is being told them
	remindAt  time.Time            // it is told them no sooner
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
	leastDeciding = 1100 * time.Millisecond // of that, for who has less time: more than a Store needs that asks its server again for a second
	tellingTime   = time.Second             // to be told what came of something
)

// How long the store may say that another process is finding out how much is left of the quota: longer than
// an attempt takes, and the next one's after it.
const findingTime = time.Minute

// within returns ctx for a question to the store, of a caller with a deadline, zero for none: he waits for one
// part in so many of what he has left, or for least. That the store hangs shows after its own time.
func within(ctx context.Context, deadline time.Time, parts time.Duration, least time.Duration) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(least, time.Until(deadline)/parts))
}

// decide asks the store what may be sent. A caller with a deadline keeps half of his time for the service.
func decide[A any](ctx context.Context, part *remote.Peer, deadline time.Time, question func(context.Context) (A, error), late func(context.Context, A)) (A, error) {
	ctx, cancel := within(ctx, deadline, 2, leastDeciding)
	defer cancel()
	return remote.Ask(ctx, part, decidingTime, question, late)
}

// reserve asks the store for a query of which keep are left to others, for a caller with a deadline, zero for
// none. It returns nil without a fleet, and where the store hangs or fails: then the client's own gate is all
// there is.
func (f *fleet) reserve(ctx context.Context, deadline time.Time, keep int) (*Reservation, error) {
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
		r, err := decide(ctx, &f.quota, deadline, ask, giveBack)
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
	f.remind(ctx)
	ask := func(ctx context.Context) (solClaim, error) { return f.askClaim(ctx, credential, hold(patience)) }
	deadline, _ := ctx.Deadline()
	waiting, cancel := context.WithTimeoutCause(ctx, patience, solguard.ErrImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		claim, err := decide(ctx, &f.credentials, deadline, ask, f.giveBack)
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
// only a refusal. One that the store cannot be told is owed to it. A refusal is waited for a moment, so that
// whoever hears of it and asks another process finds it there.
func (f *fleet) conclude(ctx context.Context, credential []string, claim *solClaim, v solguard.Verdict, memory time.Duration) {
	refused := v == solguard.Rejected || v == solguard.Doubtful
	if f == nil || claim == nil && !refused {
		return
	}
	name, until := f.credential(credential), time.Now().Add(memory)
	if refused {
		f.owe(name, until)
	}
	told := f.credentials.Tell(ctx, name, tellingTime, func(ctx context.Context) {
		var err error
		granted := claim != nil && claim.name == name
		switch {
		case granted:
			err = f.store.Conclude(ctx, name, claim.Claim, verdictOf(v), memory)
		case refused, v == solguard.Proven:
			err = f.store.Conclude(ctx, name, Claim{State: ClaimProven}, verdictOf(v), memory)
		}
		if refused && err == nil {
			f.noLongerOwed(name, until)
		}
		if claim != nil && !granted {
			f.giveBack(ctx, *claim)
		}
	})
	if refused {
		remote.Await(ctx, told)
	}
}

// verdictOf returns what the store is told of a verdict.
func verdictOf(v solguard.Verdict) Verdict {
	switch v {
	case solguard.Proven:
		return VerdictProven
	case solguard.Rejected, solguard.Doubtful:
		return VerdictRefused
	}
	return VerdictNone
}

// giveBack is release in the goroutine that tells it.
func (f *fleet) giveBack(ctx context.Context, c solClaim) {
	if c.State == ClaimGranted {
		_ = f.store.Conclude(ctx, c.name, c.Claim, VerdictNone, 0)
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

// owe keeps a refusal for the store, which is to remember it until then.
func (f *fleet) owe(name string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.owed) < mostOwed {
		f.owed[name] = until
	}
}

// noLongerOwed takes note that the store knows a refusal, unless there was another since.
func (f *fleet) noLongerOwed(name string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owed[name].Equal(until) {
		delete(f.owed, name)
	}
}

// owedUntil returns until when the store is to remember a refusal that is owed to it, and zero for none.
func (f *fleet) owedUntil(name string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owed[name]
}

// remind tells the store in the background what is owed to it, once at a time. One that hung is left alone for
// a while.
func (f *fleet) remind(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.owed) == 0 || f.reminding || time.Now().Before(f.remindAt) {
		return
	}
	f.reminding = true
	f.credentials.Go(func() {
		err := f.tellOwed(context.WithoutCancel(ctx))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reminding = false
		if errors.Is(err, errUntold) {
			f.remindAt = time.Now().Add(remote.LeftAlone)
		}
	})
}

// errUntold is why a refusal is still owed that the store did not take within its time.
var errUntold = errors.New("it did not answer in time")

// tellOwed tells the store the refusals that it could not be told, one after the other, and stops at the
// first failure, or when ctx ends. Each is told in the order of what is told of its name, so that none comes
// after Olvidar forgot it.
func (f *fleet) tellOwed(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	owed := slices.Collect(maps.Keys(f.owed))
	f.mu.Unlock()
	for _, name := range owed {
		err := errUntold // where it is not its turn within its time
		told := f.credentials.Tell(ctx, name, tellingTime, func(ctx context.Context) { err = f.tellRefusal(ctx, name) })
		select {
		case <-told:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// tellRefusal tells the store the refusal of a name, where it is owed still.
func (f *fleet) tellRefusal(ctx context.Context, name string) error {
	until := f.owedUntil(name)
	if left := time.Until(until); left > 0 {
		err := f.store.Conclude(ctx, name, Claim{State: ClaimProven}, VerdictRefused, left)
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("%w: %w", errUntold, err)
		case err != nil:
			return err
		}
	}
	f.noLongerOwed(name, until)
	return nil
}

// forget makes the store forget that a credential was refused, and waits for that: the caller is about to
// send it again. That it was accepted, or that somebody tries it now, stays.
func (f *fleet) forget(credential []string, attempt time.Duration) {
	if f == nil {
		return
	}
	name := f.credential(credential)
	f.noLongerOwed(name, f.owedUntil(name))
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

// load returns what the store keeps under the name of an answer, and nil for nothing. A caller with a deadline,
// zero for none, keeps most of his time for the service and for what decides whether it is asked.
func (f *fleet) load(ctx context.Context, deadline time.Time, question []string) []byte {
	if f == nil {
		return nil
	}
	ctx, cancel := within(ctx, deadline, 4, time.Second/4)
	defer cancel()
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
