package mockserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// TB is the part of [testing.TB] that the assertions need.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
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
	who := hashOf(solID{ruc, usuario})
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
	all, dropped := s.snapshot(f)
	got := 0
	take := taking([]Filter{f})
	for i := range all {
		if take(&all[i]) {
			got += count(&all[i])
		}
	}
	if dropped > 0 {
		t.Errorf("mockserver: the journal has dropped %d requests, so it cannot be said how many %s there were: give the server WithJournal(%d)",
			dropped, what, 2*len(all))
		return false
	}
	if got != want {
		t.Errorf("mockserver: %d %s, want %d, among %v\n%s", got, what, want, f, table(all, f))
		return false
	}
	return true
}

// snapshot returns the journal, or of a filter with a key that key's part, and how much of it was dropped.
func (s *Server) snapshot(f Filter) (all []entry, dropped int) {
	s.journal.mu.Lock()
	all = s.journal.read(taking([]Filter{{Key: f.Key}}))
	s.journal.mu.Unlock()
	return all, s.Dropped(f.Key)
}

// table writes requests, one a line; what the filter does not take says why.
func table(all []entry, f Filter) string {
	if len(all) == 0 {
		return "The journal is empty: no request came.\n"
	}
	const most = 50
	var b strings.Builder
	if len(all) > most {
		fmt.Fprintf(&b, "(the last %d of %d)\n", most, len(all))
		all = all[len(all)-most:]
	}
	if f.Key != "" {
		f.Key = f.keyID()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "  \tN\ttime\trequest\tkey\tstatus\tcode\tcost\tconn\tfault\tSOL\tnot counted, since")
	for i := range all {
		r := &all[i].Request
		why := f.differs(r)
		mark := "=>"
		if why != "" {
			mark = "  "
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", mark, r.N, r.Time.Format("15:04:05.000"), r.line(),
			orDash(r.Key), r.statusText(), orDash(r.Code), r.Cost, r.connText(), orDash(r.Fault), orDash(string(r.SOL)), why)
	}
	_ = w.Flush()
	return b.String()
}

// line is the request line.
func (r *Request) line() string {
	line := r.Method + " " + r.Path
	if r.Query != "" {
		line += "?" + r.Query
	}
	if len(line) > 70 {
		line = line[:70] + "…"
	}
	return line
}

func (r *Request) statusText() string {
	if r.Status == 0 {
		return "-"
	}
	return strconv.Itoa(r.Status)
}

func (r *Request) connText() string {
	switch {
	case r.Conn == 0:
		return "-"
	case r.Reused:
		return strconv.FormatInt(r.Conn, 10) + " again"
	}
	return strconv.FormatInt(r.Conn, 10) + " new"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// JournalTable returns the requests that the filters take as text, one a line, for a log or a terminal.
func (s *Server) JournalTable(filters ...Filter) string {
	s.journal.mu.Lock()
	all := s.journal.read(taking(filters))
	s.journal.mu.Unlock()
	return table(all, Filter{})
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
			if secret != "" && (strings.Contains(shown, secret) || strings.Contains(shown, quotedJSON(secret))) {
				t.Errorf("mockserver: secret %d of %d is in the journal's request %d, %s", i+1, len(secrets), r.N, r.Method)
				ok = false
			}
		}
	}
	return ok
}
