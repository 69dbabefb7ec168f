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
	refused  *simplelru.LRU[id, *state]
	accepted *simplelru.LRU[id, *state]
	held     map[id]*state // that somebody is sending, and that neither list has
}

func newKnowledge() knowledge {
	k := knowledge{held: map[id]*state{}}
	kept := func(c id, s *state) {
		if s.turns > 0 {
			k.held[c] = s
		}
	}
	k.refused, _ = simplelru.NewLRU(mostRefused, kept) // fails for sizes below 1
	k.accepted, _ = simplelru.NewLRU(mostAccepted, kept)
	return k
}

// of returns what is known of a credential, and whether anything is.
func (k *knowledge) of(c id) (s *state, known bool) {
	if s, known = k.held[c]; known {
		return s, true
	}
	if s, known = k.refused.Peek(c); known {
		return s, true
	}
	if s, known = k.accepted.Get(c); known {
		return s, true
	}
	return new(state), false
}

// hold keeps what is known, or begins to be, until it is released as often.
func (k *knowledge) hold(c id, s *state, known bool) {
	s.turns++
	if !known {
		k.held[c] = s
	}
}

// release ends a hold. What is still of use is remembered.
func (k *knowledge) release(c id, s *state, now time.Time, memory time.Duration) {
	if s.turns--; s.turns > 0 {
		return
	}
	delete(k.held, c)
	switch {
	case s.blocked(now):
		k.forgetEnded(now)
		k.accepted.Remove(c)
		k.refused.Add(c, s)
	case s.known(now, memory):
		k.refused.Remove(c)
		k.accepted.Add(c, s)
	default:
		k.refused.Remove(c)
		k.accepted.Remove(c)
	}
}

// forgetEnded drops the oldest refusals whose time is over.
func (k *knowledge) forgetEnded(now time.Time) {
	for {
		c, s, ok := k.refused.GetOldest()
		if !ok || s.blocked(now) {
			return
		}
		k.refused.Remove(c)
		if !s.accepted.IsZero() { // refused in doubt: that it was accepted still counts
			k.accepted.Add(c, s)
		}
	}
}
