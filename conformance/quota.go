package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The headers of docs/contrato.md, 8.
const (
	headerLimit     = "X-RateLimit-Limit"
	headerRemaining = "X-RateLimit-Remaining"
	headerReset     = "X-RateLimit-Reset"
)

// lookups are those with the target's key that were answered with 200.
func (r *record) lookups() (some []*exchange) {
	for _, x := range r.sent {
		if x.request.op == lookup && x.request.key == ownKey && x.failed == nil && x.answer.status == http.StatusOK {
			some = append(some, x)
		}
	}
	return some
}

// count reads a number of queries.
func count(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63) // which takes no sign
	return int64(n), err == nil
}

// formOfReset are the forms of ISO 8601 with a calendar date and a time, extended and basic.
var formOfReset = regexp.MustCompile(`^(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?(Z|[+-]\d{2}(?::?\d{2})?)?$`)

// readReset reads a timestamp in ISO 8601 that is in UTC.
func readReset(text string) (time.Time, error) {
	parts := formOfReset.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, fmt.Errorf("want a timestamp such as 2026-11-21T05:00:00Z")
	}
	if offset := strings.ReplaceAll(parts[8], ":", ""); offset != "Z" && strings.Trim(offset, "+-0") != "" || offset == "" {
		return time.Time{}, fmt.Errorf("want it in UTC: Z or +00:00 at its end")
	}
	seconds := parts[6]
	if seconds == "" {
		seconds = "00"
	}
	at, err := time.Parse("20060102150405", strings.Join(parts[1:6], "")+seconds)
	if err != nil {
		return time.Time{}, fmt.Errorf("no calendar or clock has it")
	}
	return at, nil
}

// stretch is what was sent with the target's key from one lookup with X-RateLimit-Remaining to the next.
type stretch struct {
	from, to *exchange
	between  []*exchange
	fell     int64 // by how much Remaining did
	newDay   bool  // the quota was reset meanwhile, which fell says nothing of
}

// calls is how many queries it must have cost where all of it has succeeded: those between, and the lookup at its end.
func (s stretch) calls() int64 { return int64(len(s.between)) + 1 }

// open is why nothing is said of what it has cost, or "": whether a failure costs a query is open, and so is what is
// done beyond the last one (docs/contrato.md, 8).
func (s stretch) open() string {
	failed := 0
	for _, x := range s.between {
		if !x.succeeded() {
			failed++
		}
	}
	left, _ := remaining(s.from)
	switch {
	case failed > 0:
		return fmt.Sprintf("%d requests between two lookups failed, and whether that costs a query is open", failed)
	case s.newDay && s.fell < s.calls(): // a new day has cost no more than this either
		return "the quota was reset meanwhile"
	case left < s.calls():
		return fmt.Sprintf("only %d queries were left, and what is done beyond them is open", left)
	}
	return ""
}

// stretches are all of them, in their order.
func (r *record) stretches() (all []stretch) {
	var last *exchange
	var between []*exchange
	for _, x := range r.sent {
		if x.request.key != ownKey {
			continue
		}
		left, ok := remaining(x)
		if !ok {
			between = append(between, x)
			continue
		}
		if last != nil {
			before, _ := remaining(last)
			all = append(all, stretch{last, x, between, before - left, resetLater(last, x)})
		}
		last, between = x, nil
	}
	return all
}

// costOfLookup is by how much Remaining fell from one lookup to the next with nothing between, and 1 where no two were so.
func (r *record) costOfLookup() int64 {
	for _, s := range r.stretches() {
		if len(s.between) == 0 && s.open() == "" {
			return s.fell
		}
	}
	return 1
}

// remaining is what the 200 of a lookup says of the queries left.
func remaining(x *exchange) (int64, bool) {
	if x.request.op != lookup || x.failed != nil || x.answer.status != http.StatusOK {
		return 0, false
	}
	return count(strings.TrimSpace(x.answer.header.Get(headerRemaining)))
}

// resetLater reports whether the quota of one lookup is of a later day than that of another. Where each call moves
// the reset a little, it is the same.
func resetLater(before, after *exchange) bool {
	first, err := readReset(before.answer.header.Get(headerReset))
	second, alsoErr := readReset(after.answer.header.Get(headerReset))
	return err == nil && alsoErr == nil && second.Sub(first) > time.Hour
}

// spentBefore reports whether the quota may have been spent before a request, by what the last lookup has said and
// what was sent since.
func (r *record) spentBefore(x *exchange) bool {
	left, known := int64(0), false
	for _, earlier := range r.sent {
		if earlier == x {
			break
		}
		if said, ok := remaining(earlier); ok {
			left, known = said, true
		} else if earlier.request.key == ownKey {
			left--
		}
	}
	return known && left <= 0
}
