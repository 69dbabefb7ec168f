package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

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
	keys := 0 // known keys that can send such a request
	switch refused := f.Unmatched && !slices.Contains([]int{0, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, f.Status); {
	case refused: // a known key is refused only for its path, method or question
	case f.Key == "":
		keys = len(s.keys.all())
	case s.keys.named(f.Key) != nil:
		keys = 1
	}
	found, err := s.journal.wait(ctx, s.filter(f), n, keys)
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
func (s *Server) Totals() (calls, spent int) { return s.journal.totals() }

// JournalTable returns the matching requests as text, one per line.
func (s *Server) JournalTable(filters ...Filter) string {
	return s.table(s.journal.entries(s.filters(filters)...), nil)
}

// table formats entries; why returns the reason why a request does not count, or "". Without it none is marked.
func (s *Server) table(of []entry, why func(*entry) string) string {
	if len(of) > 0 {
		return journalTable(of, why, s.withoutKeys)
	}
	if calls, _ := s.Totals(); calls > 0 {
		return fmt.Sprintf("The journal is empty: it has no such request of the %d that came.\n", calls)
	}
	return "The journal is empty: no request came.\n"
}

// withoutKeys replaces known keys, and more, in text by fingerprints.
func (s *Server) withoutKeys(text string, more ...string) string {
	return s.keys.searched.Load().And(more...).Out(text)
}
