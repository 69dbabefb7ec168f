package fiscope

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fiscope/fiscope/internal/remote"
	"github.com/fiscope/fiscope/internal/solguard"
)

func (f *fleet) credential(c *CredencialesSOL) string { return f.name("sol", c.parts()...) }

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
// waits, at most for patience, while another process tries it. recent says that this process had it accepted
// within the last minutes. It returns nil without a fleet. Where the store hangs or fails, or says nothing in the time
// that the caller has for it, the error is errUnsure: then what is known in this process is all there is.
func (f *fleet) claim(ctx context.Context, credential *CredencialesSOL, recent bool, patience time.Duration) (*solClaim, error) {
	if f == nil {
		return nil, nil
	}
	f.remind(ctx)
	ask := func(ctx context.Context) (solClaim, error) {
		return f.askClaim(ctx, credential, recent, hold(patience))
	}
	deadline, _ := ctx.Deadline()
	waiting, cancel := context.WithTimeoutCause(ctx, patience, solguard.ErrImpatient)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		asked := time.Now()
		claim, err := decide(ctx, &f.credentials, deadline, ask, f.giveBack)
		switch {
		case time.Since(asked) > decidingTime+tellingTime: // this process was stopped: the claim may be another's by now
			if err == nil {
				f.release(ctx, &claim)
			}
			return nil, cmp.Or(ctx.Err(), solguard.ErrImpatient)
		case errors.Is(err, errNoTimeLeft):
			return nil, fmt.Errorf("%w: %w", err, errUnsure)
		case err != nil && ctx.Err() == nil:
			return nil, errUnsure
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

// askClaim asks the store. A credential that was accepted, but too long ago to be sent by all at once, has a second
// name, under which one process goes first again, unless this one knows better. Once that is granted, the store is
// asked for the credential again: who held the second name before has told what came of it.
func (f *fleet) askClaim(ctx context.Context, credential *CredencialesSOL, recent bool, hold time.Duration) (solClaim, error) {
	name := f.credential(credential)
	claim, err := f.store.Claim(ctx, name, hold)
	claim.Since = past(claim.Since)
	if err != nil || recent || !acceptedLongAgo(claim) {
		return solClaim{Claim: claim, name: name}, err
	}
	second := solClaim{name: f.name("sol again", credential.parts()...), accepted: claim.Since}
	second.Claim, err = f.store.Claim(ctx, second.name, hold)
	if err != nil || second.State != ClaimGranted {
		second.State = ClaimBusy
		return second, err
	}
	claim, err = f.store.Claim(ctx, name, hold)
	claim.Since = past(claim.Since)
	if err == nil && acceptedLongAgo(claim) {
		return second, nil
	}
	f.giveBack(ctx, second)
	return solClaim{Claim: claim, name: name}, err
}

// acceptedLongAgo reports whether a credential was accepted, but too long ago to be sent by all at once.
func acceptedLongAgo(c Claim) bool {
	return c.State == ClaimProven && !c.Since.IsZero() && time.Since(c.Since) >= solguard.Recent
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
func (f *fleet) conclude(ctx context.Context, credential *CredencialesSOL, claim *solClaim, v solguard.Verdict, memory time.Duration) {
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
		if claim != nil && !granted && (err == nil || !refused) { // otherwise the next would send what was refused
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellingTime) // also where the first took its time
			defer cancel()
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

// How many refusals are kept for a store that cannot be told, and how often it is told them: less often than it is
// waited for.
const (
	mostOwed       = 1000
	remindingPause = 2 * tellingTime
)

// owe keeps a refusal for the store, which is to remember it until then, or for longer where it is to already.
// From then on the store is told until it has taken it.
func (f *fleet) owe(name string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.owed) < mostOwed && until.After(f.owed[name]) {
		f.owed[name] = until
	}
	f.remindLater()
}

// remindLater has the store reminded after a while.
func (f *fleet) remindLater() {
	if f.reminder == nil {
		f.reminder = time.AfterFunc(remindingPause, func() {
			f.mu.Lock()
			f.reminder = nil
			f.mu.Unlock()
			f.remind(context.Background())
		})
	}
}

// close tells the store what is owed to it, for the last time until it is owed something anew.
func (f *fleet) close(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	if f.reminder != nil {
		f.reminder.Stop()
		f.reminder = nil
	}
	f.mu.Unlock()
	return f.tellOwed(ctx)
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

// remind tells the store in the background what is owed to it, once at a time, and has that done again later. One that
// hung is left alone for a while.
func (f *fleet) remind(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.owed) == 0 {
		return
	}
	f.remindLater()
	if f.reminding || time.Now().Before(f.remindAt) {
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
func (f *fleet) forget(credential *CredencialesSOL, attempt time.Duration) {
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
