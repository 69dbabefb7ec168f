package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

// exchange is a question with its outcome: why it was not sent, an error, or an answer.
type exchange struct {
	question
	unsent string
	answer answer
	failed error
	value  any   // the JSON of the answer ...
	noJSON error // ... or why it is not JSON
}

// succeeded reports whether it was answered with 2xx.
func (x *exchange) succeeded() bool { return x.has() && x.answer.status/100 == 2 }

// has reports whether there is an answer.
func (x *exchange) has() bool { return x != nil && x.unsent == "" && x.failed == nil }

// object returns the body; nil if it is not a JSON object.
func (x *exchange) object() map[string]any {
	object, _ := x.value.(map[string]any)
	return object
}

// clock returns the server's time, from its Date, or otherwise this machine's.
func (x *exchange) clock() time.Time {
	if date, err := http.ParseTime(x.answer.header.Get("Date")); err == nil {
		return date
	}
	return x.answer.came
}

// record is everything that was asked and answered.
type record struct {
	exchanges []*exchange          // in the order of the plan
	named     map[string]*exchange // the same, keyed by the names of the questions
	sent      []*exchange          // those that were sent, in order
	secrets   secrets
}

var errNoTime = errors.New("not sent: the time for answers that do not come is over")

// claveRefused is why a clave is not sent again.
const claveRefused = "the clave of -cpe was refused: it is not sent again, since too many wrong ones block its user"

// refusesClave reports whether an answer may refuse the clave of -cpe. It may also refuse the key: then too the clave
// must not be sent again.
func (x *exchange) refusesClave() bool {
	if !x.request.clave || x.request.key != ownKey || x.wrong {
		return false
	}
	status := x.answer.status
	return status == http.StatusUnauthorized || status == http.StatusForbidden || x.object()["code"] == "INVALID_SOL_CREDENTIALS"
}

// send asks the questions, one after another, until ctx ends or the sender has no patience left.
func send(ctx context.Context, plan []question, to *sender, hide secrets) *record {
	r := &record{named: map[string]*exchange{}, secrets: hide}
	blocking := false
	for _, q := range plan {
		x := &exchange{question: q, unsent: q.never}
		r.exchanges = append(r.exchanges, x)
		r.named[q.name] = x
		if q.from != nil {
			x.request, x.unsent = q.from(r)
		}
		if blocking && x.request.clave {
			x.unsent = claveRefused
		}
		switch {
		case x.unsent != "":
			continue
		case ctx.Err() != nil, to.patience <= 0:
			x.failed = errNoTime
			continue
		}
		r.sent = append(r.sent, x)
		if x.answer, x.failed = to.send(ctx, x.request); x.failed == nil {
			x.value, x.noJSON = x.answer.json()
			blocking = blocking || x.refusesClave()
		}
	}
	return r
}

// valueOf returns the JSON of the answer to a question; nil unless that is a 200 with JSON.
func (r *record) valueOf(name string) any {
	if x := r.named[name]; x.has() && x.answer.status == http.StatusOK {
		return x.value
	}
	return nil
}

// json reads the body as exactly one JSON value: map[string]any, []any, string, [json.Number], bool or nil.
func (a answer) json() (value any, err error) {
	switch {
	case a.cut != nil:
		return nil, a.cut
	case len(bytes.TrimSpace(a.body)) == 0:
		return nil, errors.New("the body is empty")
	case !utf8.Valid(a.body):
		return nil, errors.New("the body is not UTF-8, as JSON must be")
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body goes on after its JSON value: there must be one")
	}
	return value, nil
}
