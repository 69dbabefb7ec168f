package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// quota returns the limit from the first lookup. If lookups have none of the headers it is "-1", as for a mock without
// a limit.
func (r *record) quota() (quota string) {
	for _, x := range r.taxpayers(lookup) {
		header := x.answer.header
		if limit, ok := count(header.Get(headerLimit)); ok {
			return fmt.Sprint(limit)
		}
		if header.Get(headerLimit)+header.Get(headerRemaining)+header.Get(headerReset) == "" {
			quota = "-1"
		}
	}
	return quota
}

// reset returns when the quota is reset, according to the first lookup, and how long that was after the server's time.
func (r *record) reset() (at time.Time, left time.Duration) {
	for _, x := range r.taxpayers(lookup) {
		if at, err := readReset(x.answer.header.Get(headerReset)); err == nil {
			return at, at.Sub(x.clock())
		}
	}
	return time.Time{}, 0
}

// resetRolling returns whether the quota is reset 24 hours after its first use: 24 hours after the first lookup, or
// sooner but not on a full hour, which is midnight in some zone. Some write midnight as the last second of an hour.
func (r *record) resetRolling() string {
	at, left := r.reset()
	switch within := at.Minute()*60 + at.Second(); {
	case at.IsZero():
	case (left - 24*time.Hour).Abs() < 5*time.Second:
		return "true"
	case within == 0:
		return "false"
	case within < 60*60-1 && left > 0 && left < 24*time.Hour:
		return "true"
	}
	return ""
}

func (r *record) resetZone() string {
	at, _ := r.reset()
	switch hour := at.Hour(); {
	case r.resetRolling() != "false":
		return ""
	case hour == 0:
		return "UTC"
	case hour == 5:
		return "America/Lima"
	default:
		return fmt.Sprintf("Etc/GMT%+d", (hour+11)%24-11) // positive west of Greenwich, as in POSIX
	}
}

// haveLimits returns whether the answers of some operations and of one kind have the quota headers; "" if only some
// have, or there are none.
func (r *record) haveLimits(are func(*exchange) bool, of ...operation) string {
	var have []string
	for _, x := range r.sent {
		if x.request.key == ownKey && slices.Contains(of, x.request.op) && are(x) {
			have = append(have, strconv.FormatBool(x.answer.header.Get(headerRemaining) != ""))
		}
	}
	return alone(have)
}

// failureOf returns the class by which the mock charges for a status; "" if it is not a failure of the request, such as
// a redirect or a spent quota.
func failureOf(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "SOLRefused"
	case status == http.StatusNotFound:
		return "NotFound"
	case status >= http.StatusInternalServerError:
		return "Unavailable"
	case status >= http.StatusBadRequest && status != http.StatusTooManyRequests:
		return "Invalid"
	}
	return ""
}

// charges returns which classes cost a query, of those that came alone between two lookups.
func (r *record) charges() map[string]bool {
	seen := map[string]bool{}
	for _, s := range r.segments() {
		class, times, odd := "", int64(0), s.newDay
		for _, x := range s.between {
			if x.succeeded() {
				continue
			}
			its := failureOf(x.answer.status)
			odd = odd || its == "" || times > 0 && its != class
			class, times = its, times+1
		}
		if cost := s.fell - s.calls() + times; times > 0 && !odd && (cost == 0 || cost == times) {
			seen[class] = cost > 0
		}
	}
	return seen
}

// chargeFailures returns "true" if a class costs a query, and "false" if none of several does.
func (r *record) chargeFailures() string {
	seen := r.charges()
	for _, charged := range seen {
		if charged {
			return "true"
		}
	}
	if len(seen) < 2 {
		return ""
	}
	return "false"
}
