package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
)

// reporter makes the *Error and the event of a call.
type reporter struct {
	secrets  scrub.Secrets // the API key, and headers of the client
	clock    calendar
	observer *observer
}

// report makes what the caller gets, whatever its source, and counts the call. No other layer does. Its answer is never
// nil.
func report(r *reporter) layer {
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			q.began = time.Now()
			var a *answer
			err := q.set.invalid
			if err == nil {
				a, err = next(ctx, q)
			}
			if a == nil {
				a = new(answer)
			}
			var failure *Error
			if err != nil || a.err != nil {
				failure = r.failure(ctx, q, a, err)
			}
			took := time.Since(q.began)
			if a.source != SourceCache { // a cached answer is other calls' too
				a.took = took
			}
			err = nil
			switch {
			case failure == nil:
			case a.result == nil:
				err = failure
			default: // a fallback's
				a.behind = failure
				if outcomes[failure.outcome].away == unlessRate {
					a.warnings = append(slices.Clip(a.warnings), "the service's own answer is not used: "+failure.Error())
				}
			}
			r.observer.call(ctx, Event{
				Op: q.key.op, Duration: took, Avoided: a.avoided(failure), Err: err,
				Delivery: a.delivery, Source: a.source, AsOf: a.asOf, Warnings: a.warnings,
			}, failure)
			return a, err
		}
	}
}

// avoided returns why a call spent no query of its own. failure is nil for a result of the service.
func (a *answer) avoided(failure *Error) Avoided {
	switch {
	case a.joined:
		return AvoidedCoalesced
	case a.attempts > 0:
		return avoidedNot
	case a.source == SourceCache:
		return AvoidedCached
	}
	return outcomes[failure.outcome].avoided
}

// response returns the caller's Response. It is zero without an answer.
func (a *answer) response() Response {
	if a == nil {
		return Response{}
	}
	return Response{
		StatusCode: a.Status,
		Header:     a.Header.Clone(),
		Body:       bytes.Clone(a.Body),
		RateLimit:  a.rateLimit.copy(),
		Attempts:   a.attempts,
		Duration:   a.took,
		Warnings:   slices.Clone(a.warnings),
		Source:     a.source,
		AsOf:       a.asOf,
	}
}

// failure returns the error of a call that failed, made from err or, if that is nil, from the answer.
func (r *reporter) failure(ctx context.Context, q *question, a *answer, err error) *Error {
	e := a.failure(ctx, err)
	e.Op, e.Attempts, e.Delivery = q.key.op, a.attempts, a.delivery
	if a.Status != 0 {
		e.StatusCode, e.RateLimit = a.Status, a.rateLimit.copy()
		e.RetryAfter = cmp.Or(a.retryAfter(), e.RetryAfter)
		if e.body == nil { // a cached one has it already
			e.body = bytes.Clone(a.Body[:min(len(a.Body), longestBody)])
		}
	}
	if err != nil { // an answer's message is already scrubbed
		e.Message = q.secrets.Line(e.Message)
	}
	if e.cause != nil {
		e.cause = &safeCause{e.cause, q.secrets.Line(strings.ReplaceAll(e.cause.Error(), "\n", ": "))} // they are joined
	}
	return e
}

// failure returns what went wrong, without the details of the call.
func (a *answer) failure(ctx context.Context, err error) *Error {
	if own, ok := err.(*Error); ok { //nolint:errorlint // a wrapped one is the cause of another call's
		return copyError(own)
	}
	e := new(Error)
	if a.err != nil {
		e = copyError(a.err)
	}
	if err != nil && !errors.Is(e.cause, err) {
		e.cause = errors.Join(e.cause, err)
	}
	e.outcome = a.end(ctx, err)
	if asked := a.err == nil || a.attempts > 0; asked && e.outcome != brokeOff && (a.Status == 0 || a.Broken != nil) {
		e.cause = withEndOf(ctx, e.cause)
	}
	e.Err = nil
	if class, ours := outcomes[e.outcome].class.(*sentinel); ours { //nolint:errorlint // not the context's
		e.Err = class
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

// panickedError is the error of a call that did not return.
func panickedError(op Operation) *Error {
	return &Error{Op: op, cause: errors.New("a panic or runtime.Goexit ended the call"), Delivery: DeliveryUnknown, outcome: brokeOff}
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
