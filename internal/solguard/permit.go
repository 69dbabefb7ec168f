package solguard

import "time"

// Verdict is what an answer proves about a credential.
type Verdict int

// The verdicts.
const (
	Nothing  Verdict = iota
	Proven           // it was accepted
	Rejected         // it was refused
	Doubtful         // the key or the credential was refused, and the answer does not say which
	Cut              // the caller left before the answer
)

// Permit is a call's permission to send a credential.
type Permit struct {
	guard      *Guard
	credential Credential
	state      *state
	refusal    *Refused // the last one before this permit
	began      time.Time
	alone      bool // other calls wait for this one
	background bool
}

// Alone reports whether other calls wait for this one, because the credential is not proven.
func (p *Permit) Alone() bool {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	return p.alone
}

// Background reports whether the call must get its answer even if its caller leaves.
func (p *Permit) Background() bool { return p.background }

// Refused returns the refusal that arrived since the permit was given; nil if the credential may be sent now.
func (p *Permit) Refused() error {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	if p.state.refusal != p.refusal && p.guard.blocks(p.state) {
		return p.state.refusal
	}
	return nil
}

// Accepted records that the credential was accepted for another process, unless it was refused here since. It ends the
// wait of other calls.
func (p *Permit) Accepted(at time.Time) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	if p.state.refusal != nil && !at.After(p.state.refusal.Since) {
		return
	}
	p.accept(at)
	if p.state.proven(p.guard.now()) {
		p.end()
	}
}

// Block records that another process was refused.
func (p *Permit) Block(since, until time.Time) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	p.state.accepted, p.state.refusal = time.Time{}, &Refused{Since: since, Until: until, Elsewhere: true, Unexplained: until.Sub(since) <= Memory}
}

// Release records the verdict about the credential, and ends the permit. For a refusal it returns how long it blocks.
func (p *Permit) Release(v Verdict) (blocked time.Duration) {
	p.guard.mu.Lock()
	defer p.guard.mu.Unlock()
	now := p.guard.now()
	switch {
	case v == Proven:
		p.accept(now)
	case v == Cut:
		p.state.cut = p.began
	case v == Rejected:
		blocked = Memory
		p.state.accepted = time.Time{}
		p.refuse(&Refused{Since: now, Until: now.Add(blocked), Private: true})
	case v == Doubtful && !p.guard.KeyRefused.Load():
		if p.state.doubts == 0 || p.state.refusal == p.refusal { // simultaneous refusals are one doubt
			p.state.doubts++
		}
		blocked = min(firstDoubt<<min(p.state.doubts-1, 16), Memory)
		p.refuse(&Refused{Since: now, Until: now.Add(blocked), Unexplained: true, Private: true})
	}
	p.state.background = p.state.background && !p.background
	p.end()
	return blocked
}

// accept records an acceptance, unless a refusal came after the permit was given.
func (p *Permit) accept(at time.Time) {
	if p.state.refusal == p.refusal {
		p.state.accepted, p.state.doubts = at, 0
	}
}

// refuse records a refusal. It never shortens a block.
func (p *Permit) refuse(r *Refused) {
	if last := p.state.refusal; last != nil && last.Until.After(r.Until) && last != p.refusal {
		return
	}
	p.state.refusal = r
}

// end lets the next waiting call go.
func (p *Permit) end() {
	if p.alone {
		p.alone = false
		close(p.guard.trying[p.credential.user])
		delete(p.guard.trying, p.credential.user)
	}
}

// lima has no daylight saving time.
var lima = time.FixedZone("Lima", -5*60*60)

// Refused is why a credential is not sent.
type Refused struct {
	Since       time.Time
	Until       time.Time // when it may be sent again
	Unexplained bool      // the answer did not say what was refused
	Elsewhere   bool      // another process was refused
	Private     bool      // the Store may not have it yet
}

// Error returns what is known, in English.
func (r *Refused) Error() string {
	at := r.Since.In(lima).Format("2006-01-02 15:04") + " (Lima)"
	switch {
	case r.Elsewhere:
		return "another process was refused with this SOL user and clave at " + at
	case r.Unexplained:
		return "with this SOL user and clave the service answered 401 at " + at + " and did not say what it refuses"
	}
	return "this SOL user and clave were refused at " + at
}
