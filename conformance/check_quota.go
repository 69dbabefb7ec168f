package conformance

import (
	"fmt"
	"strings"
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

// costs judges the stretch in which a question was answered, and for lookups each in which nothing else was: every
// success has taken one query. Where lookups cost another number, that is their check's to say, and not that of what
// stands between two of them.
func (v *verdict) costs(op operation, question string) {
	if _, ok := v.answered(question); !ok {
		return
	}
	ofLookup := int64(1)
	if op != lookup {
		ofLookup = v.costOfLookup()
	}
	judged, why := false, "no two lookups around it have told "+headerRemaining
	for _, s := range v.stretches() {
		its := op == lookup && len(s.between) == 0
		for _, x := range s.between {
			its = its || x.name == question
		}
		if !its {
			continue
		}
		if open := s.open(); open != "" {
			why = open
			continue
		}
		judged = true
		if want := ofLookup + int64(len(s.between)); s.fell != want {
			v.wrong(s.to, "%s fell by %d from one lookup to this one: want %d, for this lookup and %d of the operation %s between",
				headerRemaining, s.fell, want, len(s.between), op)
		}
	}
	if !judged {
		v.skip("%s", why)
	}
}
