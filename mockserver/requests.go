package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// filter puts the fingerprint in the place of a key. What the server knows as a key is a key, also where it has
// the form of a fingerprint, and so is what is the fingerprint of no key and of no request.
func (s *Server) filter(f Filter) filter {
	switch a := s.keys.named(f.Key); {
	case a != nil:
		f.Key = a.id
	case f.Key != "" && !(redact.IsFingerprint(f.Key) && s.journal.knows(f.Key)):
		f.Key = redact.Fingerprint(f.Key)
	}
	known := s.keys.searched.Load()
	f.RUC, f.Code, f.Fault = known.Out(f.RUC), known.Out(f.Code), known.Out(f.Fault) // as the journal has them
	return filter(f)
}

func (s *Server) filters(fs []Filter) []filter {
	of := make([]filter, len(fs))
	for i, f := range fs {
		of[i] = s.filter(f)
	}
	return of
}

// Requests returns the requests of the journal that one of the filters takes, or all without a filter,
// oldest first. A request is in it before its answer leaves; one that waits (a latency, a hang) is in it
// with status 0.
func (s *Server) Requests(filters ...Filter) []Request {
	return requests(s.journal.entries(s.filters(filters)...))
}

// WaitRequests waits until the journal has n requests that f takes, and returns them, or the requests so
// far with the reason of ctx. It does not poll. A wait for more requests than the journal has room for fails
// at once with [ErrJournalTooSmall]: there is room for those of [WithJournal] for each key of the server, or
// for the one key of f.
func (s *Server) WaitRequests(ctx context.Context, f Filter, n int) ([]Request, error) {
	keys := 0 // that the server knows, and that can send such a request
	switch refused := f.Unmatched && !slices.Contains([]int{0, http.StatusNotFound, http.StatusMethodNotAllowed}, f.Status); {
	case refused: // a known key is refused nothing but another path or method
	case f.Key == "":
		keys = len(s.keys.all())
	case s.keys.named(f.Key) != nil:
		keys = 1
	}
	found, err := s.journal.wait(ctx, s.filter(f), n, keys)
	return requests(found), err
}

// Dropped returns how many requests the journal has not kept, for newer ones of the same key or since it keeps
// none ([WithJournal]): of a key or its fingerprint, whether the server knows it or not, or of all for "". A
// reset of the journal forgets them. Keys that the server does not know are told apart up to 1000: of one beyond
// those it returns how many may be of it.
func (s *Server) Dropped(key string) int {
	var of *ring
	if a := s.keys.named(key); a != nil {
		of = &a.seen
	}
	return s.journal.lost(of, s.filter(Filter{Key: key}).Key)
}

// Totals returns how many requests the server has got since it started, and how many queries they have cost,
// whatever the journal has dropped and whatever was reset.
func (s *Server) Totals() (calls, spent int) { return s.journal.totals() }

// JournalTable returns the requests that the filters take as text, one a line, for a log or a terminal.
func (s *Server) JournalTable(filters ...Filter) string {
	return s.table(s.journal.entries(s.filters(filters)...), func(*entry) string { return "" })
}

// table writes entries of the journal; why says of each one why it does not count, or nothing.
func (s *Server) table(of []entry, why func(*entry) string) string {
	if len(of) > 0 {
		return journalTable(of, func(e *entry) string { return s.WithoutKeys(why(e)) })
	}
	if calls, _ := s.Totals(); calls > 0 {
		return fmt.Sprintf("The journal is empty: it has no such request of the %d that came.\n", calls)
	}
	return "The journal is empty: no request came.\n"
}

// WithoutKeys returns a text, such as a line of a log, with the fingerprint in the place of every API key
// that the server knows and of more, if they have 6 characters or more: a shorter one may be a part of any
// text. Keys are found in the escapes of a URL, of JSON and of HTML too.
func (s *Server) WithoutKeys(text string, more ...string) string {
	return s.keys.searched.Load().And(more...).Out(text)
}
