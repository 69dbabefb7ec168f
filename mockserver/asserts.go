package mockserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TB is the part of [testing.TB] that the assertions need.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// AssertCalls fails t unless exactly want requests match f. Assertions about requests also fail if the journal has
// dropped a request that may match.
func (s *Server) AssertCalls(t TB, f Filter, want int) bool {
	t.Helper()
	return s.assertSum(t, f, want, "requests", func(*entry) int { return 1 })
}

// AssertSpent fails t unless requests matching f cost exactly want queries.
func (s *Server) AssertSpent(t TB, f Filter, want int) bool {
	t.Helper()
	return s.assertSum(t, f, want, "queries spent", func(e *entry) int { return e.Cost })
}

// AssertSOLAttempts fails t unless exactly want validations tried this user.
func (s *Server) AssertSOLAttempts(t TB, ruc, usuario string, want int) bool {
	t.Helper()
	who := UsuarioID{ruc, usuario}.hash()
	return s.assertSum(t, Filter{Op: OpValidar}, want, "SOL attempts", func(e *entry) int {
		if e.sol == who {
			return 1
		}
		return 0
	})
}

// assertSum adds up count over the requests that match f, and compares the sum with want.
func (s *Server) assertSum(t TB, f Filter, want int, what string, count func(*entry) int) bool {
	t.Helper()
	v, ok := s.view(t, f, want)
	if !ok {
		return false
	}
	got := 0
	for _, e := range v.taken {
		got += count(e)
	}
	if got != want {
		v.fail(t, v.filter.differs, "%d %s, want %d, among %v", got, what, want, v.filter)
		return false
	}
	return true
}

// view is the part of the journal that an assertion checks.
type view struct {
	server *Server
	filter filter
	all    []entry  // shown in a failure: the requests of the filter's key, or all
	taken  []*entry // the requests that match, in order
}

// view returns the requests that match f. If the journal may have dropped some, it fails t with a journal size that is
// large enough for them and for want requests.
func (s *Server) view(t TB, f Filter, want int) (*view, bool) {
	t.Helper()
	v := &view{server: s, filter: s.filter(f)}
	v.all = s.journal.entries(filter{Key: v.filter.Key})
	if lost := s.dropped(f.Key); lost > 0 { // read after the requests, so that none is lost in between
		kept := len(s.journal.entries())
		t.Errorf("mockserver: the journal has dropped %d requests that this assertion may be about:\ngive the server WithJournal(%d)",
			lost, max(kept+s.dropped(""), want))
		return nil, false
	}
	for i := range v.all {
		if v.filter.differs(&v.all[i]) == "" {
			v.taken = append(v.taken, &v.all[i])
		}
	}
	return v, true
}

// fail fails t with a text and the requests; why returns the reason why a request does not count, or "".
func (v *view) fail(t TB, why func(*entry) string, format string, args ...any) {
	t.Helper()
	t.Errorf("%s\n%s", v.server.headline(format, args...), v.server.table(v.all, why))
}

// headline is the first line of a failure: without keys, and at most as wide as the table below it.
func (s *Server) headline(format string, args ...any) string {
	return clipped(printable(s.withoutKeys("mockserver: "+fmt.Sprintf(format, args...))), tableWidth)
}

// AssertFaultsMet fails t if a fault has met fewer calls than it was set for.
func (s *Server) AssertFaultsMet(t TB) bool {
	t.Helper()
	ok := true
	for _, f := range s.Control().Faults("") {
		if want := max(f.Match.Times, 1); f.Hits < want {
			steps, _ := json.Marshal(f.Steps) // plain fields: cannot fail
			t.Errorf("%s\nThe fault: %s\nCalls that came, and that it could meet: %d.\n%s",
				s.headline("fault %s has met %d calls, want %d or more", clipped(f.Name, 40), f.Hits, want),
				printable(clipped(s.withoutKeys(fmt.Sprintf("%v, steps %s", f.Match, steps)), 10*tableWidth)), f.Seen, s.JournalTable())
			ok = false
		}
	}
	return ok
}

// AssertNoSecrets fails t if the journal has one of the secrets, or a key or clave of the server of 6 characters or
// more. It never prints them.
func (s *Server) AssertNoSecrets(t TB, secrets ...string) bool {
	t.Helper()
	v, ok := s.view(t, Filter{}, 0)
	if !ok {
		return false
	}
	var own []string
	for _, k := range s.keys.all() {
		own = append(own, k.Key)
	}
	for _, u := range s.data.Load().sol.all() {
		own = append(own, u.Clave)
	}
	secrets = slices.Concat(secrets, slices.DeleteFunc(own, func(secret string) bool { return len(secret) < 6 }))
	for _, e := range v.taken {
		r := e.shown()
		r.Time, r.Key, r.Op = time.Time{}, "", ""
		text, _ := json.Marshal(r) // plain fields: cannot fail
		shown := string(text) + fmt.Sprintf("%+v", r)
		for i, secret := range secrets {
			escaped, _ := json.Marshal(secret) // a string: cannot fail
			if secret != "" && (strings.Contains(shown, secret) || strings.Contains(shown, string(escaped))) {
				t.Errorf("%s", s.headline("secret %d of %d is in the journal's request %d, %s", i+1, len(secrets), r.N, r.Method))
				ok = false
			}
		}
	}
	return ok
}
