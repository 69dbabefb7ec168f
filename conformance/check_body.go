package conformance

import (
	"net/http"
	"strings"
)

// bodyChecks are those of every body (docs/contrato.md, 1 and 2.6).
func bodyChecks() (all []check) {
	for _, op := range operations {
		all = append(all,
			check{"1", "a " + string(op) + " answers in JSON", "request and response bodies are JSON",
				func(v *verdict) {
					v.each(op, func(x *exchange) {
						if _, ok := v.value(x); !ok {
							return
						}
						if err := x.answer.servedAsJSON(); err != nil {
							v.wrong(x, "%v", err)
						}
					})
				}},
			check{"2.6", "error of a " + string(op), "an error has a message for people",
				func(v *verdict) {
					v.eachError(op, func(x *exchange, object map[string]any) {
						if text, ok := v.text(x, object, "error"); ok && strings.TrimSpace(text) == "" {
							v.wrong(x, "error is empty")
						}
					})
				}},
			check{"2.6", "code of a " + string(op), "an error has a code for programs",
				func(v *verdict) {
					v.eachError(op, func(x *exchange, object map[string]any) {
						if text, ok := v.text(x, object, "code"); ok && strings.TrimSpace(text) == "" {
							v.wrong(x, "code is empty")
						}
					})
				}},
		)
	}
	return all
}

// each judges all answers of an operation but those of a refused key, which are open; what had no answer fails.
func (v *verdict) each(op operation, judge func(*exchange)) {
	for _, x := range v.exchanges {
		if x.request.op != op || x.ends == keyless || x.unsent != nil {
			continue
		}
		if x, ok := v.answered(x.name); ok {
			judge(x)
		}
	}
}

// eachError judges the bodies of all errors of an operation. What the contract refuses and the service does not is
// for the check of that rule.
func (v *verdict) eachError(op operation, judge func(*exchange, map[string]any)) {
	v.each(op, func(x *exchange) {
		if x.answer.status < http.StatusBadRequest {
			return
		}
		value, ok := v.value(x)
		if !ok {
			return
		}
		object, ok := value.(map[string]any)
		if !ok {
			v.wrong(x, "the body is %s: want an object with error and code", kind(value))
			return
		}
		judge(x, object)
	})
}
