package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// result is what came of a check: failures, a reason why it says nothing, or neither.
type result struct {
	check
	failures []string
	skipped  string
}

// checks are all of them, in the order of the sections that they begin with.
func checks() []check {
	all := slices.Concat(bodyChecks(), fieldChecks(), estadoChecks(), lookupChecks(), searchChecks(), validationChecks(),
		rateChecks(), keyChecks(), quotaChecks())
	slices.SortStableFunc(all, func(a, b check) int { return strings.Compare(a.section, b.section) })
	return all
}

// judge tells a record by all checks.
func judge(r *record) (results []result) {
	for _, c := range checks() {
		v := &verdict{record: r, check: c}
		c.judge(v)
		if len(v.failures) > 0 {
			v.skipped = ""
		}
		if v.more > 0 {
			v.failures = append(v.failures, fmt.Sprintf("and %d more", v.more))
		}
		results = append(results, result{c, v.failures, v.skipped})
	}
	return results
}
