package roundtrip

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The reset of a daily quota is at most a day ahead; the second day allows for clocks and zones.
const farthestReset = 48 * time.Hour

// Reset reads RFC 3339 with or without zone, fraction or seconds, Unix seconds or Unix milliseconds, and returns the
// zero time for anything else. A reset more than 48 hours ahead is garbage: it would close the quota for too long.
func Reset(text string, now time.Time) (reset time.Time) {
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

// RetryAfter returns the wait that the header Retry-After asks for, and whether it could be read: seconds, or an HTTP
// date (RFC 9110, 10.2.3), which is compared with the answer's own Date. A date in the past is no wait.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "0123456789.+-") == "" {
		return time.Duration(max(0, min(seconds, LongestWait.Seconds())) * float64(time.Second)), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if date, ok := Date(h); ok && at.Sub(date).Abs() < LongestWait { // otherwise that Date is wrong
		now = date
	}
	return max(0, min(at.Sub(now), LongestWait)), true
}

// Date returns the time of an answer, according to the service's clock.
func Date(h http.Header) (time.Time, bool) {
	text := h.Get("Date")
	if text == "" {
		return time.Time{}, false
	}
	date, err := http.ParseTime(text)
	return date, err == nil
}

// LongestWait is enough to mean "not now", and far from an overflow.
const LongestWait = 365 * 24 * time.Hour
