package mockserver

import "time"

// Quota is where a key stands on the server's day.
type Quota struct {
	Limit     int // calls a day, or Unlimited
	Used      int // of the day that the server's clock is in
	Remaining int // Unlimited for an unlimited key
	Reset     time.Time
	Spent     int // charged on all days since the last reset of the quotas, without what was given back
}

// Quota returns where a key stands, and whether the server knows the key.
func (s *Server) Quota(key string) (Quota, bool) {
	a := s.keys.account(key)
	if a == nil {
		return Quota{}, false
	}
	return a.quota(s.clock.now(), s.assume.ResetZone), true
}

func (a *account) quota(now time.Time, zone *time.Location) Quota {
	d := a.dayOf(now, zone)
	q := Quota{Limit: int(a.limit.Load()), Used: int(d.used.Load()), Remaining: Unlimited, Reset: d.until.UTC(), Spent: int(a.spent.Load())}
	if q.Limit != Unlimited {
		q.Remaining = max(0, q.Limit-q.Used)
	}
	return q
}

// SetQuotaUsed makes it as if a key had made used calls today: with the limit or more, its next call is
// refused. It is an error for a key that the server does not know.
func (s *Server) SetQuotaUsed(key string, used int) error {
	a := s.keys.account(key)
	switch {
	case a == nil:
		return s.checked("SetQuotaUsed", errUnknownKey)
	case used < 0:
		return s.checked("SetQuotaUsed", errNegative)
	}
	a.dayOf(s.clock.now(), s.assume.ResetZone).used.Store(int64(used))
	return nil
}

// SOLState is how the tax authority sees a SOL user.
type SOLState struct {
	Attempts     int       // validations that reached the tax authority with this user, since it was put
	Fails        int       // wrong ones in a row: at Assumptions.BlockAfter the user is blocked
	Blocked      bool      // now, by the server's clock
	BlockedUntil time.Time // zero when not blocked
}

// SOLState returns the state of a user, and whether the server knows it.
func (s *Server) SOLState(ruc, usuario string) (SOLState, bool) {
	return s.data.Load().sol.state(solID{ruc, usuario}, s.clock.now())
}

func (s *sol) state(id solID, now time.Time) (SOLState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return SOLState{}, false
	}
	u.endBlock(now)
	return SOLState{u.attempts, u.fails, !u.blockedUntil.IsZero(), u.blockedUntil}, true
}

// UnblockSOL forgets a user's wrong attempts and ends its block. It is an error for a user that the
// server does not know.
func (s *Server) UnblockSOL(ruc, usuario string) error {
	if !s.data.Load().sol.unblock(solID{ruc, usuario}) {
		return s.checked("UnblockSOL", errUnknownUser)
	}
	return nil
}

func (s *sol) unblock(id solID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[id]
	if u == nil {
		return false
	}
	u.fails, u.blockedUntil = 0, time.Time{}
	return true
}

// unblockAll does it for all, and forgets how often they were tried.
func (s *sol) unblockAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		u.attempts, u.fails, u.blockedUntil = 0, 0, time.Time{}
	}
}

// SUNATDown reports whether the tax authority does not respond; see [Server.SetSUNATDown].
func (s *Server) SUNATDown() bool { return s.data.Load().sunatDown.Load() }
