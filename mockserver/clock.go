package mockserver

import "time"

// The clock is the one time of a server: "today" in Lima, the publication of a rate, the quota's reset,
// the end of a SOL block, the life of a fault, the journal and the Date header all read it. Only waits (a
// latency, a slow body) pass real time.

// Now returns the server's time.
func (s *Server) Now() time.Time { return s.clock.Now() }

// SetNow sets the server's clock to t, forward or back. A running clock runs on from there, a frozen one
// stays there; a day to which it comes back has used what it had used, if it is among the last 8 that the key was
// used on. It is an error for a time before 1970 or
// after 9000-01-01, and the clock stays as it is then.
func (s *Server) SetNow(t time.Time) error {
	s.t.Helper()
	if err := s.clock.Set(t); err != nil {
		return s.checked("SetNow", err)
	}
	return nil
}

// Advance moves the server's clock by d, running or frozen; a negative d moves it back. What became due
// (a rate's publication, a new quota, the end of a block or of a fault) has happened when it returns. It
// refuses what [Server.SetNow] refuses.
func (s *Server) Advance(d time.Duration) error {
	s.t.Helper()
	if err := s.clock.Advance(d); err != nil {
		return s.checked("Advance", err)
	}
	return nil
}

// Freeze stops the server's clock where it stands.
func (s *Server) Freeze() { s.clock.Freeze() }

// Resume lets a frozen clock run on from where it stands.
func (s *Server) Resume() { s.clock.Resume() }

// Frozen reports whether the server's clock was stopped with [Server.Freeze] or [WithFrozenClock].
func (s *Server) Frozen() bool { return s.clock.Frozen() }
