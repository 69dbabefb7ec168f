package mockserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// TB is the part of [testing.TB] that the assertions need.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// filter puts the fingerprint in the place of a key. What the server knows as a key is a key, also where
// it has the form of a fingerprint.
func (s *Server) filter(f Filter) filter {
	switch a := s.keys.named(f.Key); {
	case a != nil:
		f.Key = a.id
	case f.Key != "" && !redact.IsFingerprint(f.Key):
		f.Key = redact.Fingerprint(f.Key)
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

// Requests returns the requests of the journal that one of the filters takes, or all without a filter,
// oldest first. A request is in it before its answer leaves; one that waits (a latency, a hang) is in it
// with status 0.
func (s *Server) Requests(filters ...Filter) []Request {
	return requests(s.journal.entries(s.filters(filters)...))
}

// WaitRequests waits until the journal has n requests that f takes, and returns them, or the requests so
// far with the reason of ctx. It does not poll.
func (s *Server) WaitRequests(ctx context.Context, f Filter, n int) ([]Request, error) {
	found, err := s.journal.wait(ctx, s.filter(f), n)
	return requests(found), err
}

// Dropped returns how many requests the journal has dropped for newer ones of the same key: of one key
// or its fingerprint, or of all and of none when key is "".
func (s *Server) Dropped(key string) int {
	if key == "" {
		return s.journal.dropped(nil)
	}
	if a := s.keys.named(key); a != nil {
		return s.journal.dropped(&a.seen)
	}
	return 0
}

// JournalTable returns the requests that the filters take as text, one a line, for a log or a terminal.
func (s *Server) JournalTable(filters ...Filter) string {
	return journalTable(s.journal.entries(s.filters(filters)...), filter{})
}

// WithoutKeys returns a text, such as a line of a log, with the fingerprint in the place of every API key
// that the server knows and of more, if they have 6 characters or more: a shorter one may be a part of any
// text. Keys are found in the escapes of a URL and of JSON too.
func (s *Server) WithoutKeys(text string, more ...string) string {
	return s.keys.searched.Load().And(more...).Out(text)
}

// AssertCalls fails t unless the journal has exactly want requests that f takes. The failure shows the
// journal, with what sets the other requests apart.
func (s *Server) AssertCalls(t TB, f Filter, want int) bool {
	t.Helper()
	return s.assert(t, f, want, "requests", func(*entry) int { return 1 })
}

// AssertSpent fails t unless the requests that f takes have cost exactly want queries of their quotas.
func (s *Server) AssertSpent(t TB, f Filter, want int) bool {
	t.Helper()
	return s.assert(t, f, want, "queries spent", func(e *entry) int { return e.Cost })
}

// AssertSOLAttempts fails t unless exactly want validations reached the tax authority with a user's
// credentials, right or wrong.
func (s *Server) AssertSOLAttempts(t TB, ruc, usuario string, want int) bool {
	t.Helper()
	who := UsuarioID{ruc, usuario}.hash()
	return s.assert(t, Filter{Op: OpValidar}, want, "SOL attempts", func(e *entry) int {
		if e.sol == who {
			return 1
		}
		return 0
	})
}

// assert adds up what the requests of a filter count, and compares it.
func (s *Server) assert(t TB, f Filter, want int, what string, count func(*entry) int) bool {
	t.Helper()
	// Of a filter with a key, that key's part only: nothing of it may be dropped, and the table shows it.
	fs := s.filter(f)
	all, dropped := s.journal.entries(filter{Key: fs.Key}), s.Dropped(f.Key)
	got := 0
	take := taking([]filter{fs})
	for i := range all {
		if take(&all[i].Request) {
			got += count(&all[i])
		}
	}
	if dropped > 0 {
		t.Errorf("mockserver: the journal has dropped %d requests, so it cannot be said how many %s there were: give the server WithJournal(%d)",
			dropped, what, 2*len(all))
		return false
	}
	if got != want {
		t.Errorf("mockserver: %d %s, want %d, among %v\n%s", got, what, want, fs, journalTable(all, fs))
		return false
	}
	return true
}

// AssertNoSecrets fails t if the journal has one of the secrets in it, or a key or a clave that the server
// knows, if that has 6 characters or more: a shorter one may be a part of any text. It does not repeat the
// secret.
func (s *Server) AssertNoSecrets(t TB, secrets ...string) bool {
	t.Helper()
	secrets = slices.Clone(secrets)
	add := func(secret string) {
		if len(secret) >= 6 {
			secrets = append(secrets, secret)
		}
	}
	for _, k := range s.keys.all() {
		add(k.Key)
	}
	for _, u := range s.data.Load().sol.all() {
		add(u.Clave)
	}
	ok := true
	for _, r := range s.Requests() {
		r.Time, r.Key = time.Time{}, ""
		text, _ := json.Marshal(r) // plain fields: cannot fail
		shown := string(text) + fmt.Sprintf("%+v", r)
		for i, secret := range secrets {
			escaped, _ := json.Marshal(secret) // a string: cannot fail
			if secret != "" && (strings.Contains(shown, secret) || strings.Contains(shown, string(escaped))) {
				t.Errorf("mockserver: secret %d of %d is in the journal's request %d, %s", i+1, len(secrets), r.N, printable(r.Method))
				ok = false
			}
		}
	}
	return ok
}
