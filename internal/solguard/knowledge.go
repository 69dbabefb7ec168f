package solguard

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// How many credentials are remembered that nobody is sending. A refused one takes about 300 bytes.
const (
	mostRefused  = 100_000
	mostAccepted = 10_000
)

// state is what is known of a credential.
type state struct {
	accepted time.Time // the last time; zero for never, or for not since it was refused
	against  time.Time // when no answer came after that, or others were refused, the last time; zero for never
	refusal  *Refused  // the last; nil for none
	until    time.Time // when it ends to block; zero for none
	doubts   int       // the unexplained refusals since it was accepted
	turns    int       // under way
}

func (s *state) blocked(now time.Time) bool { return !s.until.IsZero() && now.Before(s.until) }

// known reports whether it was accepted, for as long as that is remembered.
func (s *state) known(now time.Time, memory time.Duration) bool {
	return !s.accepted.IsZero() && now.Sub(s.accepted) < memory
}

// recent reports whether it was accepted within the last minutes, and nothing speaks against it since. One
// that was accepted later than now, before the clock was set back, was not.
func (s *state) recent(now time.Time, memory time.Duration) bool {
	return s.doubts == 0 && s.against.IsZero() && s.known(now, min(Recent, memory)) && s.accepted.Sub(now) < Recent
}

// block takes note of a refusal. It never shortens another.
func (s *state) block(r *Refused, until time.Time) {
	if until.After(s.until) {
		s.until = until
	}
	r.Until = s.until
	s.refusal = r
}

// knowledge is what is known of all credentials.
type knowledge struct {
	held     map[id]*state // that somebody is sending
	refused  *simplelru.LRU[id, *state]
	accepted *simplelru.LRU[id, *state]
}

func newKnowledge() knowledge {
	k := knowledge{held: map[id]*state{}}
	k.refused, _ = simplelru.NewLRU[id, *state](mostRefused, nil) // fails for sizes below 1
	k.accepted, _ = simplelru.NewLRU[id, *state](mostAccepted, nil)
	return k
}

// of returns what is known of a credential: of one that is new, nothing.
func (k *knowledge) of(clave id) *state {
	if s, ok := k.held[clave]; ok {
		return s
	}
	if s, ok := k.refused.Peek(clave); ok {
		return s
	}
	if s, ok := k.accepted.Get(clave); ok {
		return s
	}
	return new(state)
}

// hold keeps what is known until it is released as often.
func (k *knowledge) hold(clave id, s *state) {
	s.turns++
	k.held[clave] = s
	k.refused.Remove(clave)
	k.accepted.Remove(clave)
}

// release ends a hold. What is still of use is remembered.
func (k *knowledge) release(clave id, s *state, now time.Time, memory time.Duration) {
	if s.turns--; s.turns > 0 {
		return
	}
	delete(k.held, clave)
	switch {
	case s.blocked(now):
		k.forgetEnded(now)
		k.refused.Add(clave, s)
	case s.known(now, memory):
		k.accepted.Add(clave, s)
	}
}

// forgetEnded drops the oldest refusals whose time is over.
func (k *knowledge) forgetEnded(now time.Time) {
	for {
		clave, s, ok := k.refused.GetOldest()
		if !ok || s.blocked(now) {
			return
		}
		k.refused.Remove(clave)
		if !s.accepted.IsZero() { // refused in doubt: that it was accepted still counts
			k.accepted.Add(clave, s)
		}
	}
}
