package mockserver

import "fmt"

// Part is a part of a server's state that [Server.Reset] can put back.
type Part string

// The parts.
const (
	PartJournal Part = "journal" // the requests seen
	PartFaults  Part = "faults"  // all of them, and what they hold is let go
	PartQuotas  Part = "quotas"  // nobody has used anything
	PartClock   Part = "clock"   // as it started
	PartData    Part = "data"    // as it started, with its keys and their limits; nobody is blocked
	PartLocks   Part = "locks"   // no SOL user is blocked or near it
)

// Parts returns all parts, in the order in which they are reset.
func Parts() []Part {
	return []Part{PartFaults, PartClock, PartData, PartLocks, PartQuotas, PartJournal}
}

// Reset puts the given parts of the server back to how it started, or all of them when none is given.
// A request under way may see some of the old and some of the new. It is an error for a part that there
// is not, and nothing is reset then.
func (s *Server) Reset(parts ...Part) error {
	if len(parts) == 0 {
		parts = Parts()
	}
	var resets []func() error
	for _, part := range parts {
		reset, ok := s.resets()[part]
		if !ok {
			return s.checked("Reset", fmt.Errorf("there is no part %q: the parts are %v", string(part), Parts()))
		}
		resets = append(resets, reset)
	}
	for _, reset := range resets {
		if err := reset(); err != nil {
			return s.checked("Reset", err)
		}
	}
	return nil
}

func (s *Server) reloadData() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.loadData()
}

func (s *Server) resets() map[Part]func() error {
	plain := func(f func()) func() error {
		return func() error {
			f()
			return nil
		}
	}
	return map[Part]func() error{
		PartFaults:  plain(s.ClearFaults),
		PartJournal: plain(s.journal.clear),
		PartClock:   plain(func() { s.clock.start(s.config.at, s.config.frozen) }),
		PartData:    s.reloadData,
		PartLocks:   plain(func() { s.data.Load().sol.unblockAll() }),
		PartQuotas: plain(func() {
			for _, a := range s.keys.accountList() {
				a.reset()
			}
		}),
	}
}
