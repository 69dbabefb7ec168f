package fiscope

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The classes of failure, for [errors.Is]. The body's code decides first, then the status.
var (
	// ErrInvalidRequest: the input breaks a rule of the contract. Refused locally, before a query is
	// spent, wherever the rule is known; otherwise a 400 or another 4xx of the service.
	ErrInvalidRequest error = &sentinel{text: "invalid request"}
	// ErrSearchTooShort: the text to search has fewer than 3 characters (SEARCH_TOO_SHORT). It also is
	// ErrInvalidRequest.
	ErrSearchTooShort error = &sentinel{text: "search text too short", parent: ErrInvalidRequest}
	// ErrNotFound: no taxpayer has that RUC, or no rate exists for that date (NOT_FOUND).
	ErrNotFound error = &sentinel{text: "not found"}
	// ErrNotYetPublished: the exchange rate of a recent business day is not published yet, so an older one
	// would be taken for the official. It also is ErrNotFound. See [Provisional].
	ErrNotYetPublished error = &sentinel{text: "not yet published", parent: ErrNotFound}
	// ErrInvalidSOLCredentials: the tax authority's portal refuses the SOL user or its clave
	// (INVALID_SOL_CREDENTIALS). Do not repeat the call: repeated refusals block the user.
	ErrInvalidSOLCredentials error = &sentinel{text: "SOL credentials refused", advice: "correct the clave before the next try: repeated refusals block the SOL user"}
	// ErrSOLCredentialsBlocked: the credential was refused before, so it was not sent again. It also is
	// ErrInvalidSOLCredentials. See [CPEService.Olvidar].
	ErrSOLCredentialsBlocked error = &sentinel{text: "SOL credentials not sent", advice: "correct the clave, or call Olvidar if it is right by now", parent: ErrInvalidSOLCredentials}
	// ErrUnauthorized: the service refuses the API key (401 or 403).
	ErrUnauthorized error = &sentinel{text: "unauthorized", advice: "check the API key"}
	// ErrQuotaExceeded: the daily quota is spent, or the service asks for fewer calls (429).
	ErrQuotaExceeded error = &sentinel{text: "quota exceeded"}
	// ErrUnavailable: the service, or the tax authority behind it, did not answer (408, 5xx, a broken
	// connection, a timeout). The same call may succeed later.
	ErrUnavailable error = &sentinel{text: "service unavailable"}
	// ErrMalformedResponse: an answer came and it is not one of the contract, so nothing of it is used.
	ErrMalformedResponse error = &sentinel{text: "malformed response", advice: "check the base URL and what stands between (proxy, firewall)"}
	// ErrRedirect: the service answered with a redirect. It is not followed, because the API key and the
	// clave would go along.
	ErrRedirect error = &sentinel{text: "redirect not followed", advice: "check the base URL"}
)

// The machine-readable codes that the contract names (service.md, 7).
const (
	CodeNotFound              = "NOT_FOUND"
	CodeSearchTooShort        = "SEARCH_TOO_SHORT"
	CodeInvalidSOLCredentials = "INVALID_SOL_CREDENTIALS"
)

type sentinel struct {
	text   string
	advice string
	parent error
}

func (s *sentinel) Error() string { return "fiscope: " + s.text }
func (s *sentinel) Unwrap() error { return s.parent }

// Delivery says whether the service can have received a request that failed: it decides whether a
// receipt validation may be repeated, and whether a query may have been spent.
type Delivery int

// The deliveries.
const (
	NotSent  Delivery = iota // nothing was written to the network: no query was spent
	Answered                 // an answer came, with its status
	Unknown                  // written at least in part, and no answer came
)

// String returns "not sent", "answered" or "unknown".
func (d Delivery) String() string { return [...]string{"not sent", "answered", "unknown"}[d] }

// Error is the error of every operation. It unwraps to the sentinel of its class, if it has one, and to
// its cause (a context's error, a network error), if there is one.
type Error struct {
	Op         Operation
	StatusCode int           // the HTTP status of the last answer; 0 where none came
	Code       string        // the answer's code, as in NOT_FOUND; "" where it had none
	Message    string        // what was wrong: the answer's text in Spanish, cleaned, or ours in English
	RateLimit  *RateLimit    // as the last answer's headers said; nil where none came
	RetryAfter time.Duration // the wait that the service asked for; 0 where it asked for none
	Attempts   int           // how many times it was tried: 0 when refused locally
	Delivery   Delivery      // whether the service can have received the last attempt

	kind  error
	cause error
	body  []byte
}

// Body returns the answer that failed, as bytes: at most 4 KiB, without credentials. It is nil where
// no answer came. It can hold a taxpayer's data: mind where it is logged.
func (e *Error) Body() []byte { return e.body }

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error {
	var wrapped []error
	for _, err := range []error{e.kind, e.cause} {
		if err != nil {
			wrapped = append(wrapped, err)
		}
	}
	return wrapped
}

// Error returns one line in English that is safe to log.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fiscope: %s: ", e.Op)
	var class *sentinel
	switch {
	case errors.As(e.kind, &class):
		b.WriteString(class.text)
	case e.cause != nil:
		b.WriteString(e.cause.Error())
	default:
		b.WriteString("failed")
	}
	if e.StatusCode != 0 {
		fmt.Fprintf(&b, " (%s)", strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.StatusCode, e.Code)))
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if class != nil && e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	if class != nil && class.advice != "" {
		b.WriteString("; " + class.advice)
	}
	switch {
	case e.Delivery == NotSent:
		b.WriteString("; nothing was sent")
	case e.Delivery == Unknown:
		b.WriteString("; the service may have received it")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "; %d attempts", e.Attempts)
	}
	return b.String()
}

// Format writes the line of Error for every verb: the other fields may only be read one by one.
func (e *Error) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, e.Error()) }

// classOf returns the sentinel of an answer that is not a success: the code decides first, then the
// status (service.md, 7; the statuses for keys and quota are not shown there).
func classOf(status int, code string) error {
	switch code {
	case CodeNotFound:
		return ErrNotFound
	case CodeSearchTooShort:
		return ErrSearchTooShort
	case CodeInvalidSOLCredentials:
		return ErrInvalidSOLCredentials
	}
	switch {
	case status >= 300 && status < 400:
		return ErrRedirect
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusRequestTimeout, status >= 500 && status < 600:
		return ErrUnavailable
	case status == http.StatusTooManyRequests:
		return ErrQuotaExceeded
	case status == http.StatusNotFound:
		return ErrMalformedResponse // a 404 without NOT_FOUND is another server's page, not "no such taxpayer"
	case status >= 400 && status < 500:
		return ErrInvalidRequest
	}
	return ErrMalformedResponse
}
