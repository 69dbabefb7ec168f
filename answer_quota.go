package fiscope

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/scrub"
)

// outcome returns what the answer means to the quota gate. That the service itself serves is only asked of
// one that looks whether it does again.
func (a *answer) outcome(looks bool, clock clock) quota.Outcome {
	o := quota.Outcome{Written: a.Written, Answer: quota.Answered}
	if looks && a.served() {
		o.Answer = quota.Served
	}
	if a.rateLimit != nil {
		o.Headers = &a.quota
	}
	switch a.Status {
	case http.StatusTooManyRequests:
		o.Answer = quota.Refused
		if asked, _ := exchange.RetryAfter(a.Header, clock.now()); throttles(a.quota.Remaining, asked) {
			o.Answer = quota.Unanswered
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		if a.rateLimit != nil && a.quota.Remaining == 0 && !a.namesItsReason() {
			o.Answer = quota.Refused
		}
	case 0, http.StatusRequestTimeout:
		o.Answer = quota.Unanswered
	default:
		if a.Status >= http.StatusInternalServerError {
			o.Answer = quota.Unanswered
		}
	}
	return o
}

// served reports whether the answer is one that no portal or gateway before the service gives: a NOT_FOUND of
// the contract, or JSON with status 200 that is no error.
func (a *answer) served() bool {
	said, isError := readErrorBody(a.Body)
	switch a.Status {
	case http.StatusOK:
		text := bytes.TrimSpace(scrub.UTF8(a.Body))
		return a.Broken == nil && (!isError || said.Code == CodeNotFound) &&
			json.Valid(text) && (text[0] == '{' || text[0] == '[')
	case http.StatusNotFound:
		return said.Code == CodeNotFound
	}
	return false
}

// namesItsReason reports whether the answer has a code of the contract, which says more than its status.
func (a *answer) namesItsReason() bool {
	said, _ := readErrorBody(a.Body)
	return !errors.Is(classOf(a.Status, said.Code, true), ErrQuotaExceeded)
}

// refusedBy returns what it means to the attempt with that number that the quota refuses it, or cannot be
// told: of a retry, that the answer before it counts.
func refusedBy(err error, number int) error {
	var spent *quota.Spent
	if number > 1 && (errors.As(err, &spent) || errors.Is(err, quota.ErrAway)) {
		return exchange.ErrNoRetry
	}
	return err
}

// heldBack returns what it means to the quota gate that the Store gave no query.
func heldBack(err error) quota.Outcome {
	var spent *quota.Spent
	if errors.As(err, &spent) && spent.Left == 0 {
		return quota.Outcome{Answer: quota.Refused}
	}
	return quota.Outcome{}
}

// told is the quota as the Store is told of it.
func (a *answer) told(clock clock) *RateLimit {
	if a.rateLimit == nil {
		return nil
	}
	return &RateLimit{Limit: a.rateLimit.Limit, Remaining: a.quota.Remaining, Reset: clock.toReal(a.quota.Reset)}
}
