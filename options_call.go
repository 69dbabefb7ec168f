package fiscope

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"
)

// CallOption configures one call. If its value is invalid, the call fails and nothing is sent.
type CallOption interface{ applyToCall(*settings) error }

type callOption func(*settings) error

func (o callOption) applyToCall(s *settings) error { return o(s) }

// settings are the options of a call. Calls without options share their client's settings, which never change.
type settings struct {
	response   *Response // to be filled; nil for none
	failure    *error    // to be filled with the failure behind a fallback's answer; nil for none
	timeout    time.Duration
	cpeTimeout time.Duration // ... of a validation's attempt
	retries    int
	header     http.Header // of the caller; nil for none
	reserve    int         // queries kept for others
	fresh      bool        // skip the cache
	respaldo   Respaldo    // nil for none
	invalid    error       // an option was invalid
	sendBy     time.Time   // no attempt is sent later; zero for no limit
}

// beforeSending returns the context for the waits before an attempt.
func (s *settings) beforeSending(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.sendBy.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, s.sendBy, errDeadlineTooClose)
}

// tooClose returns the error of a wait before an attempt: errDeadlineTooClose if the wait ended and ctx did not.
func tooClose(ctx, waiting context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && waiting.Err() != nil && ctx.Err() == nil {
		return errDeadlineTooClose
	}
	return err
}

// attemptTimeout bounds an attempt.
func (s *settings) attemptTimeout(post bool) time.Duration {
	if post {
		return s.cpeTimeout
	}
	return s.timeout
}

// of returns the settings of a call with options.
func (s *settings) of(opts []CallOption) *settings {
	if len(opts) == 0 {
		return s
	}
	own := *s
	for _, opt := range opts {
		err := misuse("an option of the call is nil")
		if opt != nil {
			err = opt.applyToCall(&own)
		}
		own.invalid = cmp.Or(own.invalid, err)
	}
	return &own
}

// WithResponse fills r with what is known about the call besides its result, even if the call fails.
func WithResponse(r *Response) CallOption {
	return callOption(func(s *settings) error {
		s.response = r
		return nil
	})
}

// WithoutCache skips cached answers, also the Store's, and the Client's Respaldo. The new answer is cached.
func WithoutCache() CallOption {
	return callOption(func(s *settings) error {
		s.fresh = true
		return nil
	})
}
