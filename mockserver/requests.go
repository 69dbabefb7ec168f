package mockserver

import (
	"context"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// filter replaces a key by its fingerprint. A known key is a key even if it looks like a fingerprint; so is a fingerprint
// that no key and no request has.
func (s *Server) filter(f Filter) filter {
	if a := s.keys.named(f.Key); a != nil {
		f.Key = a.id
	} else if f.Key != "" && !(redact.IsFingerprint(f.Key) && s.journal.knows(f.Key)) {
		f.Key = redact.Fingerprint(f.Key)
	}
	known := s.keys.searched.Load()
	for _, text := range []*string{&f.RUC, &f.Text, &f.Code, &f.Fault} {
		*text = known.Out(*text) // as in the journal
	}
	return filter(f)
}

func (s *Server) filters(fs []Filter) []filter {
	of := make([]filter, len(fs))
	for i, f := range fs {
		of[i] = s.filter(f)
	}
	return of
}

// Requests returns the requests that match a filter, or all, oldest first.
func (s *Server) Requests(filters ...Filter) []Request {
	return requests(s.journal.entries(s.filters(filters)...))
}

// WaitRequests waits for n requests that match f. On error it returns those so far: with the cause of ctx, or with
// [ErrJournalTooSmall].
func (s *Server) WaitRequests(ctx context.Context, f Filter, n int) ([]Request, error) {
	found, err := s.journal.wait(ctx, s.filter(f), n, len(s.keys.all()))
	return requests(found), err
}

// dropped returns how many requests of a key, "" for all, were dropped.
func (s *Server) dropped(key string) int {
	var of *ring
	if a := s.keys.named(key); a != nil {
		of = &a.seen
	}
	return s.journal.dropped(of, s.filter(Filter{Key: key}).Key)
}

// Totals returns how many requests came since the start, and their cost.
func (s *Server) Totals() (calls, spent int) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.calls, s.journal.spent
}

// JournalTable returns the matching requests as text, one per line.
func (s *Server) JournalTable(filters ...Filter) string {
	return s.table(s.journal.entries(s.filters(filters)...), nil)
}

// withoutKeys replaces known keys, and more, in text by fingerprints.
func (s *Server) withoutKeys(text string, more ...string) string {
	return s.keys.searched.Load().And(more...).Out(text)
}
