package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// check is one sentence of the contract, and how an answer is judged by it.
type check struct {
	section string // of docs/contrato.md
	name    string
	says    string // the sentence, in our words
	judge   func(*verdict)
}

// subtest is the name of a check's subtest.
func (c check) subtest() string { return c.section + "/" + c.name }

// verdict is a check under way.
type verdict struct {
	*record
	check    check
	failures []string
	more     int // failures that are not shown
	skipped  string
}

// mostFailures is how many failures of a check are shown.
const mostFailures = 3

// wrong notes a failure: the sentence, what was sent, what came, and what is wrong with it.
func (v *verdict) wrong(x *exchange, format string, args ...any) {
	if len(v.failures) == mostFailures {
		v.more++
		return
	}
	if x.told == "" {
		came := "no answer"
		if x.failed == nil {
			came = fmt.Sprintf("%d %s %s", x.answer.status, x.answer.header.Get("Content-Type"), x.answer.body)
		}
		x.told = "sent:  " + v.secrets.hide(x.request.String()) + "\ncame:  " + v.secrets.abridged(came)
	}
	v.failures = append(v.failures, fmt.Sprintf("docs/contrato.md, %s: %s\n%s\nwrong: %s",
		v.check.section, v.check.says, x.told, v.secrets.abridged(fmt.Sprintf(format, args...))))
}

// skip notes why the check says nothing.
func (v *verdict) skip(format string, args ...any) {
	v.skipped = v.secrets.hide(fmt.Sprintf(format, args...))
}

// answered returns the exchange of a question, and whether it has an answer to judge.
func (v *verdict) answered(name string) (*exchange, bool) {
	x := v.named[name]
	switch {
	case x == nil:
		v.skip(needsClave)
		return nil, false
	case x.unsent != nil:
		v.skip("%s", x.unsent.text)
		return nil, false
	case x.failed != nil:
		v.wrong(x, "there is no answer: %v", x.failed)
		return nil, false
	}
	return x, true
}

// value reads an answer as JSON.
func (v *verdict) value(x *exchange) (any, bool) {
	if x.noJSON != nil {
		v.wrong(x, "%v", x.noJSON)
		return nil, false
	}
	return x.value, true
}

// success reads the answer to a question as a 200 with JSON.
func (v *verdict) success(name string) (*exchange, any, bool) {
	x, ok := v.answered(name)
	if !ok {
		return nil, nil, false
	}
	if x.answer.status != http.StatusOK {
		v.wrong(x, "the status is %d: want 200%s", x.answer.status, v.hint(x))
		return nil, nil, false
	}
	value, ok := v.value(x)
	return x, value, ok
}

// hint says what else a status may come from than a mistake of the service.
func (v *verdict) hint(x *exchange) string {
	switch status := x.answer.status; {
	case v.spentBefore(x):
		return " (by the last lookup the quota of the key may be spent)"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return " (is the API key right, and the clave?)"
	case status == http.StatusTooManyRequests:
		return " (is the quota of the key spent?)"
	case status == http.StatusNotFound && x.name == askLookup:
		return " (is -ruc one that exists there?)"
	case status == http.StatusNotFound && x.name == askRate:
		return " (is -fecha a day with a rate there?)"
	case status == http.StatusInternalServerError && x.request.op == validation:
		return " (does the tax authority respond?)"
	case status >= 300 && status <= 399:
		return " (a redirect is not followed: is the base URL right?)"
	}
	return ""
}

// object reads the answer to a question as a 200 with a JSON object.
func (v *verdict) object(name string) (*exchange, map[string]any, bool) {
	x, value, ok := v.success(name)
	if !ok {
		return nil, nil, false
	}
	object, ok := value.(map[string]any)
	if !ok {
		v.wrong(x, "the body is %s: want an object", kind(value))
	}
	return x, object, ok
}

// list reads the answer to a question as a 200 with a JSON array.
func (v *verdict) list(name string) (*exchange, []any, bool) {
	x, value, ok := v.success(name)
	if !ok {
		return nil, nil, false
	}
	list, ok := value.([]any)
	if !ok {
		v.wrong(x, "the body is %s: want an array", kind(value))
	}
	return x, list, ok
}

// refusal judges the answer to a question by a row of docs/contrato.md, 7; code "" is any that is not empty.
func (v *verdict) refusal(name string, status int, code string) {
	x, ok := v.answered(name)
	if !ok {
		return
	}
	if x.answer.status != status {
		v.wrong(x, "the status is %d: want %d%s", x.answer.status, status, v.hint(x))
		return
	}
	value, ok := v.value(x)
	if !ok {
		return
	}
	object, _ := value.(map[string]any)
	switch came, text := object["code"].(string); {
	case !text:
		v.wrong(x, "code is %s: want a text", member(object, "code"))
	case code == "" && strings.TrimSpace(came) == "":
		v.wrong(x, "code is empty")
	case code != "" && came != code:
		v.wrong(x, "code is %q: want %q", came, code)
	}
}

// text returns a member of an object that must be a text.
func (v *verdict) text(x *exchange, object map[string]any, name string) (string, bool) {
	text, ok := object[name].(string)
	if !ok {
		v.wrong(x, "%s is %s: want a text", name, member(object, name))
	}
	return text, ok
}

// formed judges a text by its form; want says it.
func (v *verdict) formed(x *exchange, object map[string]any, name string, form *regexp.Regexp, want string) {
	if text, ok := v.text(x, object, name); ok && !form.MatchString(text) {
		v.wrong(x, "%s is %q: want %s", name, text, want)
	}
}

// member says what a member of an object is, for a message about its type.
func member(object map[string]any, name string) string {
	value, there := object[name]
	if !there {
		return "not there"
	}
	return kind(value) + ", " + shown(value)
}
