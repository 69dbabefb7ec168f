package fiscope

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fiscope/fiscope/internal/scrub"
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

// shortestSecret is the length, in bytes, from which a header of the caller is treated as a secret.
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
