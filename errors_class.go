package fiscope

import (
	"context"
	"errors"
)

// classes are the words of [ErrorClass]. What is a special case of another comes before it.
var classes = []struct {
	of   error
	word string
}{
	{ErrNotYetPublished, "not_yet_published"},
	{ErrNotFound, "not_found"},
	{ErrSearchTooShort, "search_too_short"},
	{ErrInvalidRequest, "invalid_request"},
	{ErrSOLCredentialsBlocked, "sol_credentials_blocked"},
	{ErrInvalidSOLCredentials, "invalid_sol_credentials"},
	{ErrUnauthorized, "unauthorized"},
	{ErrQuotaExceeded, "quota_exceeded"},
	{ErrUnavailable, "unavailable"},
	{ErrMalformedResponse, "malformed_response"},
	{ErrRedirect, "redirect"},
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "deadline_exceeded"},
}

// ErrorClass returns a word for the class of an error, for the label of a metric or a span. There are few,
// and none holds anything of what was asked:
//
//   - "" for nil
//   - "not_found" and "not_yet_published", which are answers rather than failures
//   - "invalid_request" and "search_too_short"
//   - "invalid_sol_credentials", and "sol_credentials_blocked" where nothing was sent
//   - "unauthorized", "quota_exceeded", "unavailable", "malformed_response", "redirect"
//   - "canceled" and "deadline_exceeded" where the context ended and nothing is known of the service
//   - "other"
//
// It is the most specific class that [errors.Is] finds, also in an error that wraps one of this package, as
// [*LoteDetenido] does. A time that ran out while the service was asked is "unavailable". An error that cannot be
// asked, as a nil *url.Error, is "other".
func ErrorClass(err error) (word string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil { // its Is or Unwrap cannot stand being nil
			word = "other"
		}
	}()
	for _, class := range classes {
		if errors.Is(err, class.of) {
			return class.word
		}
	}
	return "other"
}
