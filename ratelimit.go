package fiscope

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/quota"
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

// parseRateLimit returns what the headers show, or nil where none of them came, and what they say to the
// quota gate. A header that cannot be read is lost by itself, with a warning; it never loses the answer.
// To the gate a remaining below zero says that nothing is left, and a reset in the past, which is not
// shown, that the answer is of a day that is over.
func parseRateLimit(h http.Header, now time.Time) (shown *RateLimit, said quota.Headers, warnings []string) {
	if h[headerLimit] == nil && h[headerRemaining] == nil && h[headerReset] == nil {
		return nil, quota.Headers{Remaining: quota.Unknown}, nil
	}
	text := func(name string) string { return strings.TrimSpace(h[name][0]) }
	unreadable := func(name string) { warnings = append(warnings, "header "+name+" is unreadable") }
	count := func(name string) int {
		if len(h[name]) == 0 {
			return NoHeader
		}
		n, err := strconv.ParseUint(text(name), 10, strconv.IntSize-1) // no sign is accepted
		if err != nil {
			unreadable(name)
			return NoHeader
		}
		return int(n)
	}
	shown = &RateLimit{Limit: count(headerLimit), Remaining: count(headerRemaining)}
	said.Remaining = shown.Remaining
	if said.Remaining == NoHeader && len(h[headerRemaining]) > 0 && belowZero(text(headerRemaining)) {
		said.Remaining = 0
	}
	if len(h[headerReset]) > 0 {
		said.Reset = parseReset(text(headerReset), now)
		if shown.Reset = said.Reset; !shown.Reset.After(now) {
			shown.Reset = time.Time{}
			unreadable(headerReset)
		}
	}
	return shown, said, warnings
}

// nothingLeft reports whether headers show that no query is left before a reset that is ahead.
func nothingLeft(shown *RateLimit, said quota.Headers) bool {
	return shown != nil && !shown.Reset.IsZero() && said.Remaining == 0
}

// throttles reports whether a 429 asks for fewer calls at a time, rather than for another day: the
// contract does not tell them apart (docs/contrato.md, 7).
func throttles(remaining int, retryAfter time.Duration) bool {
	if remaining != NoHeader {
		return remaining > 0
	}
	return retryAfter > 0 && retryAfter <= longestThrottle
}

// The longest wait that a 429 without a count of queries can ask for and mean "slower" rather than
// "tomorrow".
const longestThrottle = time.Minute

func belowZero(s string) bool { return s != "" && s[0] == '-' && wholeNumber(s[1:]) }

func wholeNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// A daily quota's reset lies at most a day ahead; the second day allows for clocks and zones.
const farthestReset = 48 * time.Hour

// parseReset reads ISO 8601, Unix seconds or Unix milliseconds, and returns the zero time for what is
// neither. A reset more than 48 hours ahead is garbage: believing it would close the quota for too long.
func parseReset(s string, now time.Time) time.Time {
	var t time.Time
	if wholeNumber(s) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return t
		}
		if t = time.Unix(n, 0); t.Sub(now) >= farthestReset {
			t = time.UnixMilli(n)
		}
	} else {
		t = parseISO(s)
	}
	if t.Sub(now) >= farthestReset {
		return time.Time{}
	}
	return t.UTC()
}

// parseISO reads a calendar date with a time of day in the forms of ISO 8601, and returns the zero time
// for what is none of them: basic or extended, without seconds, with a fraction of them, 24:00:00 for the
// end of the day, an offset with or without minutes. A time without an offset is UTC, as the contract says
// of the header; a blank for the T and lower-case letters are seen (RFC 3339, 5.6).
func parseISO(s string) time.Time {
	if t, err := time.Parse(time.RFC3339, s); err == nil { // the usual form
		return t
	}
	date, clock, _ := cutAny(s, "Tt ")
	clock, offset, east := cutAny(clock, "Zz+-")
	clock, fraction, _ := cutAny(strings.TrimSpace(clock), ".,")
	date, clock, offset = strings.ReplaceAll(date, "-", ""), strings.ReplaceAll(clock, ":", ""), strings.ReplaceAll(offset, ":", "")
	if east != "-" {
		east = "+"
	}
	clock, offset = pairs(clock, 3), pairs(offset, 2)
	days := 0
	if clock == "240000" {
		clock, days = "000000", 1
	}
	t, err := time.Parse("20060102150405.999999999-0700", date+clock+"."+fraction+"0"+east+offset)
	if err != nil {
		return time.Time{}
	}
	return t.AddDate(0, 0, days)
}

// pairs returns pairs of digits with those added that were left out, which are zero.
func pairs(s string, n int) string {
	if missing := 2*n - len(s); missing > 0 && missing%2 == 0 {
		return s + strings.Repeat("0", missing)
	}
	return s
}

// cutAny cuts s around the first of the characters, and returns which one it was.
func cutAny(s, characters string) (before, after, at string) {
	if i := strings.IndexAny(s, characters); i >= 0 {
		return s[:i], s[i+1:], s[i : i+1]
	}
	return s, "", ""
}
