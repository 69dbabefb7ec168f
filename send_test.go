package fiscope_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// An answer that came counts, also where the context ends before its call does.
func TestAContextThatEndsWithTheAnswerDoesNotLoseIt(t *testing.T) {
	refusal := raw(500, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`)
	for name, test := range map[string]struct {
		op      string
		answers []func(*http.Request) (*http.Response, error)
		is      error // nil for a result
		retried bool  // the answer is one after which a GET is tried again: then the end of the context is told
	}{
		"a record":                   {"consultar", []func(*http.Request) (*http.Response, error){raw(200, contract(t, "consultar_200.json"))}, nil, false},
		"a record after a 503":       {"consultar", []func(*http.Request) (*http.Response, error){raw(503, ""), raw(200, contract(t, "consultar_200.json"))}, nil, false},
		"NOT_FOUND":                  {"consultar", []func(*http.Request) (*http.Response, error){raw(404, contract(t, "consultar_404.json"))}, fiscope.ErrNotFound, false},
		"NOT_FOUND after a 503":      {"consultar", []func(*http.Request) (*http.Response, error){raw(503, ""), raw(404, contract(t, "consultar_404.json"))}, fiscope.ErrNotFound, false},
		"a redirect":                 {"consultar", []func(*http.Request) (*http.Response, error){raw(302, "", "Location: /other")}, fiscope.ErrRedirect, false},
		"a failure that would pass":  {"consultar", []func(*http.Request) (*http.Response, error){raw(503, "")}, fiscope.ErrUnavailable, true},
		"a refusal of the clave":     {"validar", []func(*http.Request) (*http.Response, error){refusal}, fiscope.ErrInvalidSOLCredentials, false},
		"a failure of a validation":  {"validar", []func(*http.Request) (*http.Response, error){raw(503, "")}, fiscope.ErrUnavailable, false},
		"a verdict about a receipt":  {"validar", []func(*http.Request) (*http.Response, error){raw(200, contract(t, "validar_200_aceptado.json"))}, nil, false},
		"an answer that is no error": {"consultar", []func(*http.Request) (*http.Response, error){raw(200, "<html>")}, fiscope.ErrMalformedResponse, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := &service{answers: test.answers}
				client := newClient(t, s, fiscope.WithObserver(func(e fiscope.Event) {
					if e.Attempt == len(test.answers) {
						cancel() // with the answer in hand
					}
				}))
				err := operations[test.op](ctx, client)
				if test.is == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, test.is)
				assert.Equal(t, test.retried, errors.Is(err, context.Canceled))
				assert.Len(t, s.seen(), len(test.answers))
				if test.is == fiscope.ErrInvalidSOLCredentials { //nolint:errorlint // which case it is
					require.ErrorIs(t, operations[test.op](t.Context(), client), fiscope.ErrSOLCredentialsBlocked)
					assert.Len(t, s.seen(), 1, "what was refused is not sent again")
				}
			})
		})
	}
}

// slowBody is an answer whose body takes its time after the headers.
func slowBody(status int, body string, takes time.Duration, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := raw(status, body, headers...)(r)
		if err == nil {
			resp.Body = &delayedBody{resp.Body, takes, r.Context()}
		}
		return resp, err
	}
}

type delayedBody struct {
	io.ReadCloser
	takes time.Duration
	ctx   context.Context
}

func (b *delayedBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(b.takes):
		b.takes = 0
		return b.ReadCloser.Read(p)
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func TestTheHeadersOfABodyThatRunsOutOfTimeCount(t *testing.T) {
	for name, test := range map[string]struct {
		retryAfter string
		requests   int
		took       time.Duration
	}{
		"to come back too late": {"30", 1, 10 * time.Second},
		"to come back soon":     {"2.5", 2, 12500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){
					slowBody(503, "late", time.Minute, "Retry-After: "+test.retryAfter), raw(200, contract(t, "consultar_200.json")),
				}}
				p := fiscope.DefaultRetryPolicy()
				p.Base, p.Cap = 1, 1
				client := newClient(t, s, fiscope.WithRetry(p))
				start := time.Now()
				_ = operations["consultar"](t.Context(), client)
				assert.Len(t, s.seen(), test.requests)
				assert.InDelta(t, test.took, time.Since(start), 10)
			})
		})
	}
}

// A reset that is ahead when the headers come is no garbage because the body takes longer.
func TestAResetIsReadWhenItsHeaderComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reset := time.Now().Add(3 * time.Second).UTC()
		client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){
			slowBody(200, contract(t, "consultar_200.json"), 4*time.Second, "X-RateLimit-Remaining: 5", "X-RateLimit-Reset: "+reset.Format(time.RFC3339)),
		}})
		var resp fiscope.Response
		_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
		require.NoError(t, err)
		assert.True(t, reset.Equal(resp.RateLimit.Reset), resp.RateLimit)
		assert.Empty(t, resp.Warnings)
	})
}

func TestAReasonIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the till is closing")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		client := newClient(t, &service{answers: []func(*http.Request) (*http.Response, error){broken(errors.New("no route"))}},
			fiscope.WithRateLimit(0.1, 1))
		err := operations["consultar"](ctx, client)
		require.ErrorIs(t, err, reason)
		require.ErrorIs(t, err, context.Canceled)
		assert.NotRegexp(t, `(?s)till.*till|canceled.*canceled`, err.Error())
	})
}

func TestAClientThatWasNotMadeShowsItself(t *testing.T) {
	var client fiscope.Client
	assert.Nil(t, client.RateLimit())
	assert.Zero(t, client.Stats().Calls)
	assert.Equal(t, "fiscope.Client()", client.String())
	assert.NoError(t, client.Close(t.Context()))
}
