package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// quotaChecks returns the checks of docs/contract.md, 8.
func quotaChecks() []check {
	header := func(name string, wrong func(x *exchange, value string) error) check {
		return check{"8/" + name, func(v *verdict) {
			v.skipped = "no lookup was answered with 200"
			for _, x := range v.taxpayers(lookup) {
				v.skipped = ""
				if got := x.answer.header.Values(name); len(got) != 1 {
					v.wrong(x.exchange, "%s came %d times: %q", name, len(got), got)
				} else if err := wrong(x.exchange, strings.TrimSpace(got[0])); err != nil {
					v.wrong(x.exchange, "%s is %q: %v", name, got[0], err)
				}
			}
		}}
	}
	costs := func(name string, op operation, asked string) check {
		return check{"8/" + name, func(v *verdict) { v.costs(op, asked) }}
	}
	number := func(x *exchange, value string) error {
		if n, ok := count(value); !ok {
			return errors.New("want a whole number")
		} else if limit, ok := count(x.answer.header.Get(headerLimit)); ok && n > limit {
			return fmt.Errorf("the quota is %d", limit)
		}
		return nil
	}
	return []check{
		header(headerLimit, number),
		header(headerRemaining, number),
		header(headerReset, func(_ *exchange, value string) error {
			_, err := readReset(value)
			return err
		}),
		costs("a lookup consumes 1 query", lookup, askLookup),
		costs("a search consumes 1 query", search, askSearchOne),
		costs("a search consumes 1 query, however many it finds", search, askSearchFifty),
		costs("a rate consumes 1 query", rate, askRate),
		costs("a validation consumes 1 query", validation, fmt.Sprint(askReceipt, 1)),
	}
}

// costs judges the segment in which a question was answered and, for lookups, each segment of nothing else: every
// success must cost one query. If lookups cost another number, only their own check fails.
func (v *verdict) costs(op operation, asked string) {
	if _, ok := v.answered(asked); !ok {
		return
	}
	ofLookup, judged := int64(1), false
	v.skipped = "no two lookups around it had " + headerRemaining
	for _, s := range v.segments() {
		single, inconclusive := len(s.between) == 0, s.inconclusive()
		if single && inconclusive == "" && op != lookup {
			ofLookup = s.fell
		}
		its := op == lookup && single || slices.ContainsFunc(s.between, func(x *exchange) bool { return x.name == asked })
		switch want := ofLookup + int64(len(s.between)); {
		case !its:
		case inconclusive != "":
			v.skipped = inconclusive
		case s.fell != want:
			v.wrong(s.to, "%s fell by %d from one lookup to this one: want %d, for this lookup and %d of the operation %s between",
				headerRemaining, s.fell, want, len(s.between), op)
			judged = true
		default:
			judged = true
		}
	}
	if judged {
		v.skipped = ""
	}
}
