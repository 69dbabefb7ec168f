package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestErrorClass(t *testing.T) {
	for err, word := range map[error]string{
		fiscope.ErrNotFound:              "not_found",
		fiscope.ErrNotYetPublished:       "not_yet_published",
		fiscope.ErrSearchTooShort:        "search_too_short",
		fiscope.ErrInvalidRequest:        "invalid_request",
		fiscope.ErrInvalidSOLCredentials: "invalid_sol_credentials",
		fiscope.ErrSOLCredentialsBlocked: "sol_credentials_blocked",
		fiscope.ErrUnauthorized:          "unauthorized",
		fiscope.ErrQuotaExceeded:         "quota_exceeded",
		fiscope.ErrUnavailable:           "unavailable",
		fiscope.ErrMalformedResponse:     "malformed_response",
		fiscope.ErrRedirect:              "redirect",
		context.Canceled:                 "canceled",
		context.DeadlineExceeded:         "deadline_exceeded",
		io.ErrUnexpectedEOF:              "other",
	} {
		assert.Equal(t, word, fiscope.ErrorClass(err))
		assert.Equal(t, word, fiscope.ErrorClass(fmt.Errorf("the till: %w", err)))
		assert.Equal(t, word, fiscope.ErrorClass(errors.Join(io.ErrClosedPipe, err)))
	}
	assert.Empty(t, fiscope.ErrorClass(nil))
	for name, sentinel := range sentinels {
		assert.NotEqual(t, "other", fiscope.ErrorClass(sentinel), "%s has a word of its own", name)
	}
}

func TestTheClassOfACallsError(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	ruined := func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		ctx    context.Context
		word   string
	}{
		"a result":                {raw(200, record), t.Context(), ""},
		"not found":               {raw(404, contract(t, "consultar_404.json")), t.Context(), "not_found"},
		"another server's 404":    {raw(404, "<html>"), t.Context(), "malformed_response"},
		"cancelled":               {raw(200, record), cancelled, "canceled"},
		"no time for the service": {ruined, t.Context(), "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, roundTripper(test.answer), fiscope.WithRetry(noRetries()))
			assert.Equal(t, test.word, fiscope.ErrorClass(operations["consultar"](test.ctx, client)))
		})
	}
}

func TestTheClassOfABatchThatStopped(t *testing.T) {
	client := newClient(t, roundTripper(raw(401, `{"error":"x"}`)))
	var last error
	for _, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{rucSUNAT}), fiscope.LotePolicy{}) {
		last = err
	}
	var stopped *fiscope.LoteDetenido
	require.ErrorAs(t, last, &stopped)
	assert.Equal(t, "unauthorized", fiscope.ErrorClass(last))
}
