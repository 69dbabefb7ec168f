package fiscope

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RateLimit is the daily quota from the headers of an answer (docs/contract.md, 8). The contract promises them for
// lookups only.
type RateLimit struct {
	Limit     *int      // X-RateLimit-Limit, the queries of a day; nil if absent or unreadable
	Remaining *int      // X-RateLimit-Remaining, the queries left; nil if absent or unreadable
	Reset     time.Time // X-RateLimit-Reset, in UTC; zero if absent or unreadable
	Estimated bool      // queries sent since are subtracted, see [Client.RateLimit]
}

// unknown stands for a missing number.
const unknown = -1

// left returns Remaining, or unknown.
func (r *RateLimit) left() int {
	if r == nil || r.Remaining == nil || *r.Remaining < 0 {
		return unknown
	}
	return *r.Remaining
}

// ownRateLimit holds its numbers, to save allocations.
type ownRateLimit struct {
	RateLimit
	limit, remaining int
}

func (r *RateLimit) copy() *RateLimit {
	if r == nil {
		return nil
	}
	c := new(ownRateLimit)
	c.RateLimit = *r
	if r.Limit != nil {
		c.limit = *r.Limit
		c.Limit = &c.limit
	}
	if r.Remaining != nil {
		c.remaining = *r.Remaining
		c.Remaining = &c.remaining
	}
	return &c.RateLimit
}

// String returns the numbers, with "?" for unknown ones.
func (r RateLimit) String() string {
	number := func(n *int) string {
		if n == nil {
			return "?"
		}
		return strconv.Itoa(*n)
	}
	reset := "?"
	if !r.Reset.IsZero() {
		reset = r.Reset.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s of %s left, reset %s", number(r.Remaining), number(r.Limit), reset)
}

// usage is the quota from the last answer with headers, and what was sent since.
type usage struct {
	mu    sync.Mutex
	shown *RateLimit // nil before the first
	sent  int        // requests that may have been received
	last  int        // the number of the last request answered with headers
	taken int        // the value of sent when shown came
}

// begin counts a request. Its number goes to end.
func (u *usage) begin() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent++
	return u.sent
}

// end records the outcome of a request: its headers, or that it was not sent.
func (u *usage) end(number int, shown *RateLimit, unsent bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case unsent:
		u.sent--
	case shown == nil:
	case u.shown == nil, number > u.taken, shown.left() < u.shown.left(): // of simultaneous answers the lowest is the last
		u.shown, u.taken = shown, u.sent
		fallthrough
	default:
		u.last = max(u.last, number)
	}
}

// now returns the quota minus what was sent since; nil before the first headers.
func (u *usage) now() *RateLimit {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.shown.copy()
	if since := max(0, u.sent-u.last); r != nil && since > 0 {
		r.Estimated = true
		if r.Remaining != nil {
			*r.Remaining = max(0, *r.Remaining-since)
		}
	}
	return r
}

// The names of the headers in canonical form, so that a lookup needs no conversion.
const (
	headerLimit     = "X-Ratelimit-Limit"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// parseRateLimit reads the headers. shown is nil without headers, and for an unlimited plan: a limit below 1 or a
// remaining below 0, unless refused. An unreadable header is a warning. reset may be in the past.
func parseRateLimit(h http.Header, now time.Time, refused bool) (shown *RateLimit, reset time.Time, warnings []string) {
	if h[headerLimit] == nil && h[headerRemaining] == nil && h[headerReset] == nil {
		return nil, reset, nil
	}
	read := new(ownRateLimit)
	shown = &read.RateLimit
	unlimited := false
	count := func(name string, least int, n *int) *int {
		text := strings.TrimSpace(h.Get(name))
		if text == "" {
			return nil
		}
		var err error
		if *n, err = strconv.Atoi(text); err != nil {
			warnings = append(warnings, "header "+name+" is unreadable")
			return nil
		}
		unlimited = unlimited || *n < least
		return n
	}
	shown.Limit, shown.Remaining = count(headerLimit, 1, &read.limit), count(headerRemaining, 0, &read.remaining)
	if unlimited && !refused {
		return nil, reset, nil
	}
	if text := strings.TrimSpace(h.Get(headerReset)); text != "" {
		if reset = parseReset(text, now); reset.After(now) {
			shown.Reset = reset
		} else {
			warnings = append(warnings, "header "+headerReset+" is unreadable or in the past")
		}
	}
	return shown, reset, warnings
}

// The reset of a daily quota is at most a day ahead; the second day allows for clocks and zones.
const farthestReset = 48 * time.Hour

// parseReset reads RFC 3339 with or without zone, fraction or seconds, Unix seconds or Unix milliseconds, and returns the
// zero time for anything else. A reset more than 48 hours ahead is garbage: it would close the quota for too long.
func parseReset(text string, now time.Time) (reset time.Time) {
	if strings.Trim(text, "0123456789") == "" {
		n, _ := strconv.ParseInt(text, 10, 64) // a number that is too large is far ahead
		if reset = time.Unix(n, 0); reset.Sub(now) >= farthestReset {
			reset = time.UnixMilli(n)
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			reset = at
			break
		}
	}
	if reset.Sub(now) >= farthestReset {
		return time.Time{}
	}
	return reset.UTC()
}
