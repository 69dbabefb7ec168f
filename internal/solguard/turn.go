package solguard

import "time"

// Turn is a call's permission to send a credential. It belongs to that call, and is not copied once it is used.
type Turn struct {
	guard      *Guard
	credential Credential
	state      *state
	refusal    *Refused // the last before this turn
	alone      bool     // others wait for this call
}

// Alone reports whether the others wait for this call.
func (t *Turn) Alone() bool {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	return t.alone
}

// Refused returns the refusal that arrived since the turn began, or nil: then the credential may be sent
// now.
func (t *Turn) Refused() error {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	if t.state.refusal != t.refusal {
		return t.state.refusal
	}
	return nil
}

// Accepted takes note that others had the credential accepted at that time, unless something newer is known
// here. Where that is recent, those who wait need wait no longer.
func (t *Turn) Accepted(at time.Time) {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	s := t.state
	if s.refusal != nil && !at.After(s.refusal.Since) || !at.After(s.against) || at.Before(s.accepted) {
		return
	}
	t.accept(at)
	if s.recent(t.guard.now(), t.guard.memory) {
		t.end()
	}
}

// Block takes note that others were refused: the credential is not sent before until, and then by one call first.
func (t *Turn) Block(since, until time.Time) {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	t.state.against = t.guard.now()
	t.state.block(&Refused{Since: since, Elsewhere: true}, until)
}

// Leave takes note of what came of a credential, and ends the turn. For a refusal it returns how long
// that blocks.
func (t *Turn) Leave(v Verdict) (blocked time.Duration) {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	now := t.guard.now()
	switch v {
	case Proven:
		t.accept(now)
	case Rejected, Doubtful:
		blocked = t.refuse(v, now)
	case Unanswered:
		t.state.against = now
	case Unproven:
	}
	t.end()
	t.guard.known.release(t.credential.id, t.state, now, t.guard.memory)
	return blocked
}

// accept takes note of an acceptance, unless a refusal came after its call began: then it is older than
// what that says.
func (t *Turn) accept(at time.Time) {
	if t.state.refusal == t.refusal {
		t.state.accepted, t.state.doubts, t.state.against = at, 0, time.Time{}
	}
}

func (t *Turn) refuse(v Verdict, now time.Time) (blocked time.Duration) {
	s, memory := t.state, t.guard.memory
	refusal := &Refused{Since: now, Unexplained: v == Doubtful}
	if v == Rejected || !s.known(now, memory) {
		s.accepted, s.doubts = time.Time{}, 0
		s.block(refusal, now.Add(memory))
		return memory
	}
	if s.doubts == 0 || s.refusal == t.refusal { // those that were under way together are one
		s.doubts++
	}
	refusal.Accepted = s.accepted
	blocked = min(inDoubt<<min(s.doubts-1, 16), memory)
	s.block(refusal, now.Add(blocked))
	return blocked
}

// end lets the next of those who wait go.
func (t *Turn) end() {
	if t.alone {
		t.alone = false
		close(t.guard.trying[t.credential.user])
		delete(t.guard.trying, t.credential.user)
	}
}
