package conformance

import (
	"net/http"
)

// failure is a class of errors that may cost a query or not.
type failure string

const (
	invalid     failure = "invalid"
	solRefused  failure = "SOL refused"
	notFound    failure = "not found"
	unavailable failure = "unavailable"
)

// failureOf is the class of a status; "" for one that is no failure of the request, as a redirect or a spent quota.
func failureOf(status int) failure {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return solRefused
	case status == http.StatusNotFound:
		return notFound
	case status >= http.StatusInternalServerError:
		return unavailable
	case status >= http.StatusBadRequest && status != http.StatusTooManyRequests:
		return invalid
	}
	return ""
}

// charges is which classes cost a query and which do not: those that came alone between two lookups.
func (r *record) charges() map[failure]bool {
	seen := map[failure]bool{}
	for _, s := range r.stretches() {
		failed := map[failure]int64{}
		succeeded, others := int64(1), false
		for _, x := range s.between {
			switch class := failureOf(x.answer.status); {
			case x.succeeded():
				succeeded++
			case x.failed != nil || class == "":
				others = true
			default:
				failed[class]++
			}
		}
		if others || s.newDay || len(failed) != 1 {
			continue
		}
		for class, times := range failed {
			switch cost := s.fell - succeeded; cost {
			case 0:
				seen[class] = false
			case times:
				seen[class] = true
			}
		}
	}
	return seen
}

// chargeFailures is false where none of several classes costs anything.
func (r *record) chargeFailures() *string {
	seen := r.charges()
	if len(seen) == 0 {
		return nil
	}
	for _, charged := range seen {
		if charged {
			return truth(true)
		}
	}
	if len(seen) == 1 {
		return nil
	}
	return truth(false)
}

// chargeOf is not seen where no failure costs anything: it is said of those that do.
func (r *record) chargeOf(class failure) *string {
	charged, ok := r.charges()[class]
	if all := r.chargeFailures(); !ok || all != nil && *all == "false" {
		return nil
	}
	return truth(charged)
}
