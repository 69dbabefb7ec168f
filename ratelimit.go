package fiscope

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// NoHeader stands in a RateLimit for a number that no header gave.
const NoHeader = -1

// RateLimit is the daily quota as the headers of an answer show it (docs/contrato.md, 8). The contract
// documents them for the lookup only; they are read wherever they come.
type RateLimit struct {
	Limit     int       // X-RateLimit-Limit, the quota; NoHeader where it was absent or unreadable
	Remaining int       // X-RateLimit-Remaining, the queries left; NoHeader where it was absent or unreadable
	Reset     time.Time // X-RateLimit-Reset, in UTC; zero where it was absent or unreadable
}

func (r *RateLimit) copy() *RateLimit {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// String returns the numbers, with "?" for what is not known.
func (r RateLimit) String() string {
	number := func(n int) string {
		if n == NoHeader {
			return "?"
		}
		return strconv.Itoa(n)
	}
	reset := "?"
	if !r.Reset.IsZero() {
		reset = r.Reset.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s of %s left, reset %s", number(r.Remaining), number(r.Limit), reset)
}

// Canonical forms of the headers' names, so that they are looked up without a conversion.
const (
	headerLimit     = "X-Ratelimit-Limit"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// parseRateLimit returns nil where none of the headers came. A header that cannot be read is lost by
// itself, with a warning; it never loses the answer.
func parseRateLimit(h http.Header, now time.Time) (*RateLimit, []string) {
	if h[headerLimit] == nil && h[headerRemaining] == nil && h[headerReset] == nil {
		return nil, nil
	}
	var warnings []string
	unreadable := func(name string) {
		warnings = append(warnings, "header "+name+" is unreadable")
	}
	count := func(name string) int {
		if len(h[name]) == 0 {
			return NoHeader
		}
		text := strings.TrimSpace(h[name][0])
		n, err := strconv.ParseUint(text, 10, strconv.IntSize-1) // no sign is accepted
		if err != nil {
			unreadable(name)
			return NoHeader
		}
		return int(n)
	}
	r := &RateLimit{Limit: count(headerLimit), Remaining: count(headerRemaining)}
	if len(h[headerReset]) > 0 {
		var ok bool
		if r.Reset, ok = parseReset(strings.TrimSpace(h[headerReset][0]), now); !ok {
			unreadable(headerReset)
		}
	}
	return r, warnings
}

// A daily quota's reset lies at most a day ahead; the second day allows for clocks and zones.
const farthestReset = 48 * time.Hour

// The ISO 8601 forms seen: fractional seconds are accepted by time.Parse where the layout has none. A
// time without an offset is UTC, as the contract says of the header.
var resetLayouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05"}

// parseReset reads ISO 8601, Unix seconds or Unix milliseconds. A reset in the past or more than 48
// hours ahead is garbage: believing it would open or close the quota at the wrong time.
func parseReset(s string, now time.Time) (time.Time, bool) {
	plausible := func(t time.Time) bool { return t.After(now) && t.Before(now.Add(farthestReset)) }
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		for _, t := range []time.Time{time.Unix(int64(n), 0), time.UnixMilli(int64(n))} {
			if plausible(t) {
				return t.UTC(), true
			}
		}
		return time.Time{}, false
	}
	for _, layout := range resetLayouts {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
