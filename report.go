package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// reporter makes the *Error, the Response and the events of a call.
type reporter struct {
	secrets  scrub.Secrets // the API key
	clock    clock
	observer *observer
}

// report makes what the caller gets, and counts the call. No other layer makes a call's *Error.
func report(r *reporter) layer {
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			start := time.Now()
			a, err := askValid(ctx, q, next)
			if ctx == nil {
				ctx = context.Background()
			}
			if err == nil && a.kept != nil {
				return r.kept(ctx, q, a.kept)
			}
			if a == nil {
				a = new(answer)
			}
			e := Event{Op: q.key.op, Duration: time.Since(start)}
			if failure := r.failure(ctx, q, a, err); failure != nil {
				e.Err, err = failure, failure
			}
			switch {
			case a.coalesced:
				e.Avoided, e.Warnings = AvoidedCoalesced, a.warnings
			case err != nil && a.attempts == 0:
				e.Avoided = avoidedBy(err)
			}
			r.observer.call(ctx, e)
			if q.set.response != nil {
				*q.set.response = a.response(e.Duration)
			}
			return a, err
		}
	}
}

// askValid asks, unless the context is nil or an option of the call is wrong.
func askValid(ctx context.Context, q *question, next ask) (*answer, error) {
	switch {
	case ctx == nil:
		return nil, noContext()
	case q.set.invalid != nil:
		return nil, q.set.invalid
	}
	return next(ctx, q)
}

// kept returns a cached answer.
func (r *reporter) kept(ctx context.Context, q *question, e *entry) (*answer, error) {
	event := Event{Op: q.key.op, Avoided: AvoidedCached, Warnings: e.answer.warnings}
	var err error
	if e.missing != nil {
		event.Err = e.missing.again(q.key.op, e.answer.Began)
		err = event.Err
	}
	r.observer.call(ctx, event)
	if q.set.response != nil {
		*q.set.response = e.response(r.clock)
	}
	return &e.answer, err
}

// response is the caller's Response.
func (a *answer) response(took time.Duration) Response {
	return Response{
		StatusCode: a.Status,
		Header:     a.Header.Clone(),
		Body:       bytes.Clone(a.Body),
		RateLimit:  a.rateLimit.copy(),
		Attempts:   a.attempts,
		Duration:   took,
		Warnings:   slices.Clone(a.warnings),
		Coalesced:  a.coalesced,
	}
}

// shortestSecret is from how many bytes on a header of the caller is treated as a secret.
const shortestSecret = 8

// secretsOf returns the secrets that a call sends.
func (r *reporter) secretsOf(q *question) scrub.Secrets {
	secrets := r.secrets
	if q.request.sol != nil {
		secrets = secrets.With(q.request.sol.Clave.text())
	}
	return withHeaders(secrets, q.set.header)
}

func withHeaders(secrets scrub.Secrets, own http.Header) scrub.Secrets {
	for _, values := range own {
		if len(values[0]) >= shortestSecret {
			secrets = secrets.With(values[0])
		}
	}
	return secrets
}

// failure returns the error of the call: that of err or, if it is nil, of the answer; nil for a result.
func (r *reporter) failure(ctx context.Context, q *question, a *answer, err error) *Error {
	if err == nil && a.err == nil {
		return nil
	}
	secrets := r.secretsOf(q)
	e := r.of(ctx, a, err)
	e.Op, e.Attempts, e.Delivery = q.key.op, a.attempts, a.delivery
	if a.Status != 0 {
		e.StatusCode, e.RateLimit, e.asked = a.Status, a.rateLimit.copy(), a.Began
		e.body = bytes.Clone(a.Body[:min(len(a.Body), longestBody)])
		e.RetryAfter = cmp.Or(a.retryAfter(), e.RetryAfter)
	}
	if err != nil { // that of an answer is scrubbed already
		e.Message = secrets.Line(e.Message)
	}
	if e.cause != nil {
		e.cause = &safeCause{e.cause, secrets.Line(strings.ReplaceAll(e.cause.Error(), "\n", ": "))} // they are joined
	}
	return e
}

// of returns what went wrong, without the circumstances.
func (r *reporter) of(ctx context.Context, a *answer, err error) *Error {
	if own, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped is the cause of another call's
		return copyError(own)
	}
	var refused *solguard.Refused
	var spent *spentError
	var panicked *flight.Panic
	switch {
	case errors.As(err, &spent):
		e := &Error{Err: ErrQuotaExceeded, Message: spent.Error(), outcome: quotaSpent}
		if !spent.until.IsZero() {
			e.RetryAfter = max(0, r.clock.until(spent.until))
		}
		return e
	case errors.As(err, &refused):
		return &Error{Err: ErrSOLCredentialsBlocked, Message: refused.Error(), RetryAfter: max(0, r.clock.until(refused.Until)), mayBeKey: refused.Unexplained}
	case errors.Is(err, errStoreAway):
		return &Error{Err: ErrUnavailable, Message: err.Error(), RetryAfter: storePause, cause: err}
	case errors.Is(err, solguard.ErrBusy):
		return &Error{Err: ErrUnavailable, Message: solguard.ErrBusy.Error(), cause: err}
	case errors.As(err, &panicked):
		return &Error{cause: panicked} // it says nothing about the service
	}
	e := new(Error)
	if a.err != nil {
		*e = *a.err
	}
	if err != nil && !errors.Is(e.cause, err) {
		e.cause = errors.Join(e.cause, err)
	}
	if a.Status == 0 || a.Broken != nil {
		e.cause = withEndOf(ctx, e.cause)
	}
	canceled := errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	switch {
	case a.Status == 0 && a.attempts > 0 && !canceled:
		e.Err, e.outcome = ErrUnavailable, unanswered
	case a.Status == 0, a.Broken != nil && canceled:
		e.Err = nil // it says nothing about the service
	}
	return e
}

// withEndOf returns err with the end of the context and its cause, if it has ended and err does not say so.
func withEndOf(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	for _, reason := range []error{ctx.Err(), context.Cause(ctx)} {
		if !errors.Is(err, reason) {
			err = errors.Join(err, reason)
		}
	}
	return err
}

// again returns a cached error as that of this call, which was not sent.
func (e *Error) again(op Operation, asked time.Time) *Error {
	return &Error{Op: op, StatusCode: e.StatusCode, Code: e.Code, Message: e.Message, quoted: e.quoted, Err: e.Err, outcome: e.outcome, body: bytes.Clone(e.body), asked: asked}
}

// after adds the answer that led to an error.
func (e *Error) after(answered *Error) {
	e.StatusCode, e.Code, e.RateLimit, e.Delivery, e.body = answered.StatusCode, answered.Code, answered.RateLimit, answered.Delivery, answered.body
}

// panickedError is the error of a call that did not return.
func panickedError(op Operation) *Error {
	return &Error{Op: op, cause: errors.New("a panic or runtime.Goexit ended the call"), Delivery: DeliveryUnknown}
}

// stoppedBy returns why a batch stopped: the *Error of one of its calls, or the end of ctx with its cause, scrubbed.
func stoppedBy(ctx context.Context, err error, secrets scrub.Secrets) error {
	if _, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped is a cause
		return err
	}
	err = withEndOf(ctx, err)
	return &safeCause{err, secrets.Line(strings.ReplaceAll(err.Error(), "\n", ": "))} // they are joined
}
