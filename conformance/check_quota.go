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

// quotaChecks are those of docs/contrato.md, 8.
func quotaChecks() []check {
	header := func(name, says string, judge func(v *verdict, x *exchange, value string)) check {
		return check{"8", name, says, func(v *verdict) {
			seen := false
			for _, x := range v.lookups() {
				seen = true
				if value, ok := v.header(x, name); ok {
					judge(v, x, value)
				}
			}
			if !seen {
				v.skip("no lookup was answered with 200")
			}
		}}
	}
	costs := func(name string, op operation, question string) check {
		return check{"8", name, "each call consumes 1 query, and a search 1 whatever its results", func(v *verdict) { v.costs(op, question) }}
	}
	return []check{
		header(headerLimit, "a lookup's response has X-RateLimit-Limit, the quota", func(v *verdict, x *exchange, value string) {
			if _, ok := count(value); !ok {
				v.wrong(x, "%s is %q: want a whole number", headerLimit, value)
			}
		}),
		header(headerRemaining, "a lookup's response has X-RateLimit-Remaining, the queries left", func(v *verdict, x *exchange, value string) {
			left, ok := count(value)
			if !ok {
				v.wrong(x, "%s is %q: want a whole number", headerRemaining, value)
			} else if limit, known := count(x.answer.header.Get(headerLimit)); known && left > limit {
				v.wrong(x, "%s is %d, and the quota %d", headerRemaining, left, limit)
			}
		}),
		header(headerReset, "a lookup's response has X-RateLimit-Reset, a timestamp in ISO 8601 and UTC", func(v *verdict, x *exchange, value string) {
			if _, err := readReset(value); err != nil {
				v.wrong(x, "%s is %q: %v", headerReset, value, err)
			}
		}),
		costs("a lookup consumes 1 query", lookup, askLookupAgain),
		costs("a search consumes 1 query", search, askSearchOne),
		costs("a search consumes 1 query, however many it finds", search, askSearchFifty),
		costs("a rate consumes 1 query", rate, askRate),
		costs("a validation consumes 1 query", validation, fmt.Sprint(askReceipt, 1)),
	}
}

// lookups are those with the target's key that were answered with 200.
func (r *record) lookups() (some []*exchange) {
	for _, x := range r.sent {
		if x.request.op == lookup && x.request.key == ownKey && x.failed == nil && x.answer.status == http.StatusOK {
			some = append(some, x)
		}
	}
	return some
}

// header returns the value of a header that must come, and once.
func (v *verdict) header(x *exchange, name string) (string, bool) {
	values := x.answer.header.Values(name)
	switch {
	case len(values) == 0:
		v.wrong(x, "there is no %s", name)
	case len(values) > 1:
		v.wrong(x, "%s came %d times: %q", name, len(values), values)
	default:
		return strings.TrimSpace(values[0]), true
	}
	return "", false
}

// count reads a number of queries.
func count(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && text[0] != '+'
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

// costs judges the stretch in which, or at whose end, a question was answered: each of its successes has taken one
// query. Where anything in it failed nothing is said, since whether that costs is open (docs/contrato.md, 8).
func (v *verdict) costs(op operation, question string) {
	if _, ok := v.answered(question); !ok {
		return
	}
	for _, s := range v.stretches() {
		its := s.to.name == question
		failed := 0
		for _, x := range s.between {
			its = its || x.name == question
			if !x.succeeded() {
				failed++
			}
		}
		if !its {
			continue
		}
		if want := int64(len(s.between)) + 1; failed > 0 {
			v.skip("%d requests between two lookups failed, and whether that costs a query is open", failed)
		} else if s.newDay {
			v.skip("the quota was reset meanwhile")
		} else if s.fell != want {
			v.wrong(s.to, "%s fell by %d from one lookup to this one: want %d, for this lookup and %d of the operation %s between",
				headerRemaining, s.fell, want, len(s.between), op)
		}
		return
	}
	v.skip("no two lookups around it have told %s", headerRemaining)
}
