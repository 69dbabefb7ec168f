package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// failure returns the error of the call, made from err or, if that is nil, from the answer; nil for a result.
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
	if err != nil { // an answer's message is already scrubbed
		e.Message = secrets.Line(e.Message)
	}
	if e.cause != nil {
		e.cause = &safeCause{e.cause, secrets.Line(strings.ReplaceAll(e.cause.Error(), "\n", ": "))} // they are joined
	}
	return e
}

// of returns what went wrong, without the details of the call.
func (r *reporter) of(ctx context.Context, a *answer, err error) *Error {
	if own, ok := err.(*Error); ok { //nolint:errorlint // a wrapped one is the cause of another call's
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
		return &Error{Err: errNotSent, Message: err.Error(), RetryAfter: storePause, cause: err}
	case errors.Is(err, solguard.ErrBusy):
		return &Error{Err: errNotSent, Message: solguard.ErrBusy.Error(), cause: err}
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

// withEndOf joins the context's error and its cause to err, if ctx has ended and err lacks them.
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

// again returns a cached error as the error of a call that was not sent.
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
	if _, ok := err.(*Error); ok { //nolint:errorlint // a wrapped one is a cause
		return err
	}
	err = withEndOf(ctx, err)
	return &safeCause{err, secrets.Line(strings.ReplaceAll(err.Error(), "\n", ": "))} // they are joined
}

// safeCause wraps an error of net/http or of the caller, with a text that is safe to show. errors.Is and As find that
// error, but not a class that it has from another call.
type safeCause struct {
	err  error
	text string
}

func (s *safeCause) Error() string { return s.text }

func (s *safeCause) As(target any) bool { return errors.As(s.err, target) }

func (s *safeCause) Is(target error) bool {
	_, class := target.(*sentinel)
	return !class && errors.Is(s.err, target)
}
