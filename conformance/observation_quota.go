package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// quota is the limit of the first lookup; a service whose lookups have none of the headers is as the mock is
// without a limit.
func (r *record) quota() *string {
	var quota *string
	for _, x := range r.lookups() {
		header := x.answer.header
		if limit, ok := count(header.Get(headerLimit)); ok {
			return value(fmt.Sprint(limit))
		}
		if header.Get(headerLimit)+header.Get(headerRemaining)+header.Get(headerReset) == "" {
			quota = value("-1")
		}
	}
	return quota
}

// reset is when the first lookup says that the quota begins anew, and the server's time then.
func (r *record) reset() (reset, now time.Time, ok bool) {
	for _, x := range r.lookups() {
		if reset, err := readReset(x.answer.header.Get(headerReset)); err == nil {
			return reset, x.clock(), true
		}
	}
	return time.Time{}, time.Time{}, false
}

// resetRolling is whether the quota begins anew 24 hours after its first use: just so long after the first lookup, or
// sooner and at no midnight of a zone of whole hours. The last second of an hour is how some write that midnight.
func (r *record) resetRolling() *string {
	reset, now, ok := r.reset()
	left, within := reset.Sub(now), reset.Minute()*60+reset.Second()
	switch {
	case !ok:
		return nil
	case left > 24*time.Hour-5*time.Second && left < 24*time.Hour+5*time.Second:
		return truth(true)
	case within == 0:
		return truth(false)
	case within < 60*60-1 && left > 0 && left < 24*time.Hour:
		return truth(true)
	}
	return nil
}

func (r *record) resetZone() *string {
	reset, _, _ := r.reset()
	if rolling := r.resetRolling(); rolling == nil || *rolling == "true" {
		return nil
	}
	switch hour := reset.Hour(); {
	case hour == 0:
		return value("UTC")
	case hour == 5:
		return value("America/Lima")
	case hour <= 12:
		return value(fmt.Sprintf("Etc/GMT+%d", hour)) // west of Greenwich, as POSIX signs it
	default:
		return value(fmt.Sprintf("Etc/GMT-%d", 24-hour))
	}
}

// mocksReset are the forms that the mock has, of all in which ISO 8601 writes a reset.
var mocksReset = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$`)

func (r *record) resetForm() *string {
	for _, x := range r.lookups() {
		text := x.answer.header.Get(headerReset)
		if _, err := readReset(text); err != nil {
			continue
		}
		switch parts := mocksReset.FindStringSubmatch(text); {
		case parts == nil:
			return nil
		case parts[1] != "" && parts[2] != "Z":
			return value("fraction-offset")
		case parts[1] != "":
			return value("fraction")
		case parts[2] != "Z":
			return value("offset")
		}
		return value("seconds")
	}
	return nil
}

// hasLimits reports whether an answer has the headers of the quota.
func (x *exchange) hasLimits() bool { return x.answer.header.Get(headerRemaining) != "" }

// allOrNone is whether all of them have the headers; nil where some have, or there are none.
func allOrNone(some []*exchange) *string {
	have := 0
	for _, x := range some {
		if x.hasLimits() {
			have++
		}
	}
	if len(some) == 0 || have > 0 && have < len(some) {
		return nil
	}
	return truth(have > 0)
}

func (r *record) headersEverywhere() *string {
	return allOrNone(slices.DeleteFunc(slices.Clone(r.sent), func(x *exchange) bool {
		return x.request.op == lookup || x.request.key != ownKey || !x.succeeded()
	}))
}

func (r *record) headersOnErrors() *string {
	return allOrNone(slices.DeleteFunc(slices.Clone(r.sent), func(x *exchange) bool {
		return x.request.op != lookup || x.request.key != ownKey || x.failed != nil || x.answer.status < http.StatusBadRequest
	}))
}
