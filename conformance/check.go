package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// check is one rule of the contract, and the function that judges answers by it.
type check struct {
	name  string // of its subtest: the section of docs/contract.md, and the rule in our words
	judge func(*verdict)
}

// inOrder returns all checks in the order of their sections: one for each question, and those about several answers.
func inOrder(plan []question) (all []check) {
	for _, q := range plan {
		if q.judge != nil {
			all = append(all, q.check)
		}
	}
	all = slices.Concat(all, valueChecks(), receiptChecks(), quotaChecks(), []check{firstOfLarger})
	slices.SortFunc(all, func(a, b check) int { return strings.Compare(a.name, b.name) })
	return all
}

// judgeAll applies checks to a record.
func judgeAll(r *record, checks []check) (verdicts []*verdict) {
	for _, c := range checks {
		v := &verdict{check: c, record: r}
		if c.judge(v); len(v.failures) > 0 {
			v.skipped = ""
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// verdict is the outcome of a check: failures, why it was skipped, or neither.
type verdict struct {
	check
	*record
	failures []string
	skipped  string
}

// wrong records a failure: the rule, what was sent, what came, and what is wrong with it.
func (v *verdict) wrong(x *exchange, format string, args ...any) {
	if len(v.failures) == 3 { // three show enough
		return
	}
	came := "no answer"
	if x.failed == nil {
		came = fmt.Sprintf("%d %s %s", x.answer.status, x.answer.header.Get("Content-Type"), x.answer.body)
	}
	section, rule, _ := strings.Cut(v.name, "/")
	v.failures = append(v.failures, fmt.Sprintf("docs/contract.md, %s: %s\nsent:  %s\ncame:  %s\nwrong: %s", section, rule,
		v.secrets.hide(x.request.String()), v.secrets.abridged(came), v.secrets.abridged(fmt.Sprintf(format, args...))))
}

// answered returns the exchange of a question, and whether it has an answer to judge.
func (v *verdict) answered(name string) (*exchange, bool) {
	x := v.named[name]
	switch {
	case x == nil:
		v.skipped = needsClave
	case x.unsent != "":
		v.skipped = x.unsent
	case x.failed != nil:
		v.wrong(x, "there is no answer: %v", x.failed)
	}
	return x, x.has()
}

// success returns the JSON of a 200, which must be of type T: []any for a search, otherwise map[string]any.
func success[T any](v *verdict, x *exchange) (value T, ok bool) {
	switch value, ok = x.value.(T); {
	case x.answer.status != http.StatusOK:
		v.wrong(x, "the status is %d: want 200 (check the key, its quota, the URL and the flags)", x.answer.status)
	case x.noJSON != nil:
		v.wrong(x, "%v", x.noJSON)
	case !ok:
		v.wrong(x, "the body has another JSON type: want an array for a search, and otherwise an object")
	default:
		return value, true
	}
	return value, false
}

// refusal judges an answer by a row of docs/contract.md, 7; code "" stands for any that is not empty.
func (v *verdict) refusal(x *exchange, status int, code string) {
	if x.answer.status != status {
		v.wrong(x, "the status is %d: want %d", x.answer.status, status)
		return
	}
	if x.noJSON != nil {
		v.wrong(x, "%v", x.noJSON)
		return
	}
	came, _ := x.object()["code"].(string)
	if code != "" && came != code {
		v.wrong(x, "code is %s: want %q", member(x.object(), "code"), code)
	} else if strings.TrimSpace(came) == "" {
		v.wrong(x, "code is %s: want a text that is not empty", member(x.object(), "code"))
	}
}

// isError accepts any answer but a success.
func isError(v *verdict, x *exchange) {
	if x.succeeded() {
		v.wrong(x, "the status is %d: want the status of an error", x.answer.status)
	}
}

// member returns a member of an object as JSON.
func member(object map[string]any, name string) string {
	value, there := object[name]
	text, err := json.Marshal(value)
	if !there || err != nil { // an invalid json.Number, which no server can send
		return "not there"
	}
	return string(text)
}
