package fiscope

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ask answers a question; newCore builds the lists. The answer is the last one that came, and may be an error itself
// (answer.err). The error says why none came, or why there was no further attempt. report joins both into an *Error.
type ask func(ctx context.Context, q *question) (*answer, error)

// layer puts a policy around the rest of its list.
type layer func(next ask) ask

// through puts layers above the last ask. A nil layer is skipped.
func through(last ask, layers ...layer) ask {
	for _, put := range slices.Backward(layers) {
		if put != nil {
			last = put(last)
		}
	}
	return last
}

// question is one call on its way down a list.
type question struct {
	input input
	key   cacheKey
	set   *settings

	request request // what is sent; set by checkInput
	attempt int     // the number of this one, from 1 on
	sent    bool    // an earlier attempt may have been received
	trip    *trip   // of a question in the background; nil otherwise
	permit  *permit // of a validation, once it may send its credential; nil otherwise
}

// input is what an operation asks, and how its answer is read.
type input interface {
	key() cacheKey
	request() request
	read(*answer) any // the result in a 200; errors go to answer.err
	// lifetime is how long an answer may be cached from now; 0 for never. result is nil for a NOT_FOUND.
	lifetime(p CachePolicy, result any, now time.Time) time.Duration
}

// request is what an operation sends. It holds no API key.
type request struct {
	path    string           // after the base URL; needs no escaping
	query   url.Values       // nil for none
	body    []byte           // JSON, sent by POST; nil for a GET
	sol     *CredencialesSOL // the credentials in the body; nil for none
	http    *http.Request    // the same without credentials; set by checkInput
	invalid error            // the rule that the input breaks; nil if valid
}

func (r *request) method() string {
	if r.body != nil {
		return http.MethodPost
	}
	return http.MethodGet
}

// cacheKey identifies a question. It is a value, so that a lookup costs no allocation.
type cacheKey struct {
	op    Operation
	text  string
	n     int
	fecha Fecha
}

func (k cacheKey) parts() []string {
	return []string{string(k.op), k.text, strconv.Itoa(k.n), k.fecha.String()}
}

// get asks a question. own copies a shared result.
func get[T any](ctx context.Context, list ask, in input, set *settings, own func(T) T) (none T, _ error) {
	a, err := list(ctx, &question{input: in, key: in.key(), set: set})
	switch {
	case err != nil:
		return none, err
	case a.shared:
		return own(a.result.(T)), nil
	}
	return a.result.(T), nil
}

func copyOf[T any](v *T) *T {
	own := *v
	return &own
}

// checkInput refuses an input that breaks a rule.
func checkInput(prepare func(*request) *http.Request) layer {
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			if q.request = q.input.request(); q.request.invalid != nil {
				return nil, q.request.invalid
			}
			q.request.http = prepare(&q.request)
			return next(ctx, q)
		}
	}
}

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
