package conformance

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"
)

// outcome is what the contract says becomes of a question.
type outcome string

const (
	succeeds outcome = "succeeds"
	refused  outcome = "is refused"
	keyless  outcome = "is refused for its key"
	open     outcome = "is open"
)

// question is one request of the plan: one that is known, one that comes from earlier answers, or none.
type question struct {
	name    string
	ends    outcome
	request request
	from    func(*record) (request, *reason)
	never   *reason // it is not sent to this target
	again   bool    // it is sent also when the same was sent before
	wrong   bool    // its clave is to be refused

	tipo, codigo string // of a receipt: its type, and what is to come
}

// reason is why a question is not sent.
type reason struct{ text string }

func because(text string) *reason { return &reason{text} }

// exchange is a question with what came of it: a reason why it was not sent, an error, or an answer.
type exchange struct {
	question
	unsent *reason
	answer answer
	failed error
	value  any    // the JSON of the answer ...
	noJSON error  // ... or why there is none
	told   string // in a failure; "" before the first
}

// succeeded reports whether it was answered with 2xx.
func (x *exchange) succeeded() bool {
	return x.unsent == nil && x.failed == nil && x.answer.status >= 200 && x.answer.status <= 299
}

// object is the body, nil where it is no JSON object.
func (x *exchange) object() map[string]any {
	object, _ := x.value.(map[string]any)
	return object
}

// ruc is the one that was looked up.
func (x *exchange) ruc() string { return path.Base(x.request.target) }

// fecha is the one that a rate was asked of.
func (x *exchange) fecha() string {
	_, fecha, _ := strings.Cut(x.request.target, "fecha=")
	return fecha
}

// clock is the time of the server's clock, by its Date, or else of this machine's.
func (x *exchange) clock() time.Time {
	if date, err := http.ParseTime(x.answer.header.Get("Date")); err == nil {
		return date
	}
	return x.answer.came
}

// record is all that was asked and came.
type record struct {
	exchanges []*exchange          // in the order of the plan
	named     map[string]*exchange // the same, by the names of the questions
	sent      []*exchange          // those that went out, in their order
	secrets   secrets
}

var (
	errNoAnswers = errors.New("not sent: three requests in a row were waited for in vain")
	errNoTime    = errors.New("not sent: the time for all of them is over")
)

// sentFor identifies a request that is sent only once.
type sentFor struct {
	target, body string
	key          keyKind
}

// claveRefused is why a clave is sent no more.
const claveRefused = "the clave of -cpe was refused: it is not sent again, since too many wrong ones block its user"

// refusesClave reports whether the clave of -cpe is wrong, as far as an answer says. It may also be the key that is
// refused, which is no reason to go on either.
func (x *exchange) refusesClave() bool {
	if !x.request.clave || x.request.key != ownKey || x.wrong {
		return false
	}
	status := x.answer.status
	return status == http.StatusUnauthorized || status == http.StatusForbidden || x.object()["code"] == "INVALID_SOL_CREDENTIALS"
}

// mostSilent is how many requests in a row may be waited for in vain before nothing more is sent.
const mostSilent = 3

// send asks the questions, one after the other, until ctx ends. The same request is not sent twice, unless the
// question is to be asked again: what came for the first is the answer to both.
func send(ctx context.Context, plan []question, to *sender, hide secrets) *record {
	r := &record{named: map[string]*exchange{}, secrets: hide}
	before := map[sentFor]*exchange{}
	silent, blocking := 0, false
	for _, q := range plan {
		x := &exchange{question: q}
		r.exchanges = append(r.exchanges, x)
		r.named[q.name] = x
		if x.unsent = q.never; q.from != nil {
			x.request, x.unsent = q.from(r)
		}
		if blocking && x.request.clave {
			x.unsent = because(claveRefused)
		}
		if x.unsent != nil {
			continue
		}
		same := sentFor{x.request.target, x.request.body, x.request.key}
		if first := before[same]; first != nil && !q.again {
			x.answer, x.failed, x.value, x.noJSON = first.answer, first.failed, first.value, first.noJSON
			continue
		}
		before[same] = x
		switch {
		case silent == mostSilent:
			x.failed = errNoAnswers
			continue
		case ctx.Err() != nil:
			x.failed = errNoTime
			continue
		}
		r.sent = append(r.sent, x)
		x.answer, x.failed = to.send(ctx, x.request)
		if errors.Is(x.failed, errSilent) {
			silent++
			continue
		}
		silent = 0
		if x.failed == nil {
			x.value, x.noJSON = x.answer.json()
			blocking = blocking || x.refusesClave()
		}
	}
	return r
}

// valueOf is the JSON of the answer to a question, nil where it was not answered with 200 and JSON.
func (r *record) valueOf(name string) any {
	x := r.named[name]
	if x == nil || !x.succeeded() || x.answer.status != http.StatusOK {
		return nil
	}
	return x.value
}

// succeeding are the exchanges of an operation that must succeed.
func (r *record) succeeding(op operation) (some []*exchange) {
	for _, x := range r.exchanges {
		if x.request.op == op && x.ends == succeeds {
			some = append(some, x)
		}
	}
	return some
}
