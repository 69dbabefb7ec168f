package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of docs/contract.md, 8.
const (
	headerLimit     = "X-RateLimit-Limit"
	headerRemaining = "X-RateLimit-Remaining"
	headerReset     = "X-RateLimit-Reset"
)

// count reads a number of queries.
func count(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63) // it refuses a sign
	return int64(n), err == nil
}

// formsOfReset are the forms of ISO 8601 with a calendar date, a time and a zone; the seconds may have a fraction.
var formsOfReset = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "20060102T150405Z0700"}

// readReset reads a timestamp in ISO 8601 that is in UTC.
func readReset(text string) (time.Time, error) {
	for _, form := range formsOfReset {
		if at, err := time.Parse(form, text); err == nil && at.Format("-0700") == "+0000" {
			return at.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a timestamp in ISO 8601 and UTC, such as 2026-11-21T05:00:00Z")
}

// segment is what was sent with the target's key from one lookup with X-RateLimit-Remaining to the next.
type segment struct {
	from, to *exchange
	between  []*exchange
	failed   int   // how many of those between
	fell     int64 // by how much Remaining fell
	newDay   bool  // the quota was reset meanwhile: fell says nothing
}

// calls returns how many queries it must have cost if all succeeded: those between, and the lookup at its end.
func (s segment) calls() int64 { return int64(len(s.between)) + 1 }

// inconclusive returns why its cost cannot be judged, or "": the contract leaves open whether a failure costs a query,
// and what happens beyond the last one (docs/contract.md, 8).
func (s segment) inconclusive() string {
	left, _ := remaining(s.from)
	switch {
	case s.failed > 0:
		return fmt.Sprintf("%d requests between two lookups failed, and whether that costs a query is open", s.failed)
	case s.newDay && s.fell < s.calls(): // a reset can only lower fell
		return "the quota was reset meanwhile"
	case left < s.calls():
		return fmt.Sprintf("only %d queries were left, and what is done beyond them is open", left)
	}
	return ""
}

// segments returns all segments in order.
func (r *record) segments() (all []segment) {
	var s segment
	for _, x := range r.sent {
		left, ok := remaining(x)
		switch {
		case x.request.key != ownKey:
			continue
		case !ok:
			s.between = append(s.between, x)
			if !x.succeeded() {
				s.failed++
			}
			continue
		case s.from != nil:
			before, _ := remaining(s.from)
			first, err := readReset(s.from.answer.header.Get(headerReset))
			second, alsoErr := readReset(x.answer.header.Get(headerReset))
			s.to, s.fell = x, before-left
			s.newDay = err == nil && alsoErr == nil && second.Sub(first) > time.Hour // a rolling reset moves by less with each call
			all = append(all, s)
		}
		s = segment{from: x}
	}
	return all
}

// remaining returns the queries left, from the 200 of a lookup.
func remaining(x *exchange) (int64, bool) {
	if x.request.op != lookup || !x.has() || x.answer.status != http.StatusOK {
		return 0, false
	}
	return count(strings.TrimSpace(x.answer.header.Get(headerRemaining)))
}
