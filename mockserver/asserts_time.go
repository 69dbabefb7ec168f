package mockserver

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// AssertOrder fails t unless the requests that match any filter match the filters one by one, in this order.
func (s *Server) AssertOrder(t TB, filters ...Filter) bool {
	t.Helper()
	var of Filter // the common key of all filters; only its requests must be complete
	if len(filters) > 0 && !slices.ContainsFunc(filters, func(f Filter) bool { return f.Key != filters[0].Key }) {
		of.Key = filters[0].Key
	}
	v, ok := s.view(t, of, len(filters))
	if !ok {
		return false
	}
	want := s.filters(filters)
	v.taken = slices.DeleteFunc(v.taken, func(e *entry) bool { return !matchAny(want)(e) })
	why := func(e *entry) string {
		switch i := slices.Index(v.taken, e); {
		case i < 0:
			return "no filter takes it"
		case i >= len(want):
			return fmt.Sprintf("it is one more than %d", len(want))
		default:
			return want[i].differs(e)
		}
	}
	if len(v.taken) == len(want) && !slices.ContainsFunc(v.taken, func(e *entry) bool { return why(e) != "" }) {
		return true
	}
	var wanted strings.Builder
	for i, f := range want {
		fmt.Fprintf(&wanted, "%d. %s\n", i+1, printable(s.withoutKeys(f.String())))
	}
	t.Errorf("%s\n%sWant, in this order:\n%s", s.headline("%d requests, want these %d in order (see below the table)", len(v.taken), len(want)), s.table(v.all, why), &wanted)
	return false
}

// AssertPauses fails t unless two or more requests match f, and each arrives between least and most, in real time, after
// the end of the previous one.
func (s *Server) AssertPauses(t TB, f Filter, least, most time.Duration) bool {
	t.Helper()
	v, ok := s.view(t, f, 2)
	if !ok {
		return false
	}
	if len(v.taken) < 2 {
		v.fail(t, v.filter.differs, "no pause: %d requests, want 2 or more, among %v", len(v.taken), v.filter)
		return false
	}
	for i, e := range v.taken[1:] {
		before := v.taken[i]
		pause := e.arrived.Sub(before.ended)
		came := fmt.Sprintf("%s after request %d", pause, before.N)
		if before.endedTurn == 0 || e.arrivedTurn < before.endedTurn {
			came = fmt.Sprintf("while request %d was under way", before.N)
		} else if least <= pause && pause <= most {
			continue
		}
		v.fail(t, v.filter.differs, "request %d came %s, want a pause of %s to %s", e.N, came, least, most)
		return false
	}
	return true
}
