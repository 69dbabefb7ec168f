package roundtrip

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
	if own := date(h); at.Sub(own).Abs() < LongestWait { // otherwise that Date is missing or wrong
		now = own
	}
	return max(0, min(at.Sub(now), LongestWait)), true
}

// date returns the time of an answer, according to the service's clock; zero if unknown.
func date(h http.Header) time.Time {
	text := h.Get("Date")
	if text == "" { // an error costs an allocation
		return time.Time{}
	}
	at, _ := http.ParseTime(text)
	return at
}

// LongestWait is enough to mean "not now", and far from an overflow.
const LongestWait = 365 * 24 * time.Hour
