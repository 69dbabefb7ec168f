package fiscope

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/coalesce"
	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// Operation names an operation in errors and events, as in "Contribuyentes.Consultar".
type Operation string

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
	// would be taken for the official. It also is ErrNotFound. See [WithProvisional].
	ErrNotYetPublished error = &sentinel{text: "not yet published", parent: ErrNotFound}
	// ErrInvalidSOLCredentials: the tax authority's portal refuses the SOL user or its clave
	// (INVALID_SOL_CREDENTIALS). Do not repeat the call: repeated refusals block the user.
	ErrInvalidSOLCredentials error = &sentinel{text: "SOL credentials refused", advice: "correct the clave before the next try: repeated refusals block the SOL user"}
	// ErrSOLCredentialsBlocked: the credential was refused before, or answered with a 401 that does not say
	// what it refuses, so it was not sent again. It also is ErrInvalidSOLCredentials. See
	// [CPEService.Olvidar].
	ErrSOLCredentialsBlocked error = &sentinel{text: "SOL credentials not sent", advice: "correct the clave, or call Olvidar if it is right by now", parent: ErrInvalidSOLCredentials}
	// ErrUnauthorized: the service refuses the API key (401 or 403 that shows no spent quota).
	ErrUnauthorized error = &sentinel{text: "unauthorized", advice: "check the API key"}
	// ErrQuotaExceeded: the daily quota is spent (429, or 401 and 403 with headers that say so), or the
	// service asks for fewer calls (429).
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

// The machine-readable codes that the contract names (docs/contrato.md, 7).
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
	DeliveryNotSent  Delivery = iota // nothing was written to the network: no query was spent
	DeliveryAnswered                 // an answer came, with its status
	DeliveryUnknown                  // written at least in part, and no answer came
)

// String returns "not sent", "answered" or "unknown", and "Delivery(9)" for what is none of them.
func (d Delivery) String() string {
	switch d {
	case DeliveryNotSent:
		return "not sent"
	case DeliveryAnswered:
		return "answered"
	case DeliveryUnknown:
		return "unknown"
	}
	return fmt.Sprintf("Delivery(%d)", int(d))
}

// Error is the error of every operation. It unwraps to the sentinel of its class, if it has one, and to
// its cause (a context's error, a network error), if there is one.
//
// A test of yours makes one by hand, to answer for a Client:
//
//	&fiscope.Error{Op: fiscope.OpConsultarContribuyente, Err: fiscope.ErrUnavailable}
//
// RetryAfter of a spent quota is the time until its reset, although now and then a call goes earlier, to look
// whether the quota was raised: none of them is promised to go. Of [ErrSOLCredentialsBlocked] it is the time
// until the block ends.
type Error struct {
	Op         Operation
	StatusCode int           // the HTTP status of the last answer; 0 where none came
	Code       string        // the answer's code, as in NOT_FOUND; "" where it had none
	Message    string        // what was wrong: the answer's text in Spanish, cleaned, or ours in English
	RateLimit  *RateLimit    // as the last answer's headers said; nil where none came
	RetryAfter time.Duration // the wait that the service asked for, or until a call that was not sent may be (see below); 0 where that is not known
	Attempts   int           // how many times it was tried: 0 when refused locally
	Delivery   Delivery      // whether the service can have received it, with any of its attempts
	Err        error         // the sentinel of its class, as in ErrNotFound; nil for none

	cause error
	body  []byte
	asked time.Time // when the request of the last answer left, in real time; zero where none came

	mayBeKey   bool // of a clave that is blocked: what was refused may be the service's key
	ofContract bool // it is an answer with the error body of the contract
}

// Body returns the answer that failed, as bytes: at most 4 KiB, without credentials. It is nil where
// no answer came. It can hold a taxpayer's data: mind where it is logged.
func (e *Error) Body() []byte {
	if e == nil {
		return nil
	}
	return e.body
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error {
	if e == nil {
		return nil
	}
	var wrapped []error
	for _, err := range []error{e.Err, e.cause} {
		if err != nil {
			wrapped = append(wrapped, err)
		}
	}
	return wrapped
}

// Error returns one line in English that is safe to log.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fiscope: %s: ", e.Op)
	class, _ := e.Err.(*sentinel) //nolint:errorlint // another error says more than the class that it wraps
	switch {
	case class != nil:
		b.WriteString(class.text)
	case e.Err != nil: // made by hand
		b.WriteString(scrub.Secrets{}.Line(strings.TrimPrefix(e.Err.Error(), "fiscope: ")))
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
	} else if e.Err != nil && e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	if class != nil && class.advice != "" {
		b.WriteString("; " + class.advice)
	}
	switch {
	case e.Delivery == DeliveryNotSent:
		b.WriteString("; nothing was sent")
	case e.Delivery == DeliveryUnknown:
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
// status (docs/contrato.md, 7; the statuses for keys and quota are not shown there). A refusal that shows a
// spent quota in its headers is not one of the key.
func classOf(status int, code string, spent bool) error {
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
		if spent {
			return ErrQuotaExceeded
		}
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

// The makers of every *Error follow. What an answer says is made by answerError, a rule that an input
// breaks by invalid, and what is not the contract's by notContract; newError makes the rest. What happened
// to the call is added once, by circumstances.of.

// invalid is a rule of the contract that an input breaks. Its text names the field.
func invalid(format string, args ...any) error {
	return &Error{Err: ErrInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// errMisuse marks what is invalid for the program's sake, and not for what its user typed.
var errMisuse = errors.New("the program is to be corrected")

// misuse is an option, a policy or a context that makes no sense.
func misuse(format string, args ...any) error {
	return &Error{Err: ErrInvalidRequest, Message: fmt.Sprintf(format, args...), cause: errMisuse}
}

// searchTooShort is a text to search that breaks the contract's rule for it.
func searchTooShort(format string, args ...any) error {
	return &Error{Err: ErrSearchTooShort, Message: fmt.Sprintf(format, args...)}
}

// outsideOperation is what remains of an invalid input's error where nothing was to be sent: its class
// and its text.
func outsideOperation(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w: %s", e.Err, e.Message)
}

// answerError is an answer that is an error, by its status, what its body says, and whether it shows a
// spent quota.
func answerError(status int, code, message string, spent bool) *Error {
	return &Error{Err: classOf(status, code, spent), Code: code, Message: message}
}

// notContract is an answer that is none of the contract's.
func notContract(format string, args ...any) *Error {
	return &Error{Err: ErrMalformedResponse, Message: fmt.Sprintf(format, args...)}
}

// notWhole is an answer of which only the first bytes were read.
func notWhole(read int, cause error) *Error {
	e := notContract("the answer is not whole, after %d bytes: %v", read, cause)
	e.cause = cause
	return e
}

// notYetPublished is a rate that may still come, after wait.
func notYetPublished(wait time.Duration, format string, args ...any) *Error {
	return &Error{Err: ErrNotYetPublished, RetryAfter: wait, Message: fmt.Sprintf(format, args...)}
}

// noRate is a date for which no rate was found.
func noRate(format string, args ...any) *Error {
	return &Error{Err: ErrNotFound, Message: fmt.Sprintf(format, args...)}
}

// noContext is a nil context.
func noContext() error {
	return misuse("the context is nil: pass context.Background() if there is none")
}

// brokenOff is a call that did not return.
func brokenOff(op Operation) *Error {
	return &Error{Op: op, cause: errors.New("a panic or runtime.Goexit broke the call off"), Delivery: DeliveryUnknown}
}

// errNoTimeLeft is the end of a call whose deadline comes before it may leave: before its place at the limiter, or
// before the Store has said whether it may.
var errNoTimeLeft = fmt.Errorf("%w before it may be sent", context.DeadlineExceeded)

// errUnsure is why a validation is not sent that needs the Store's word.
var errUnsure = errors.New("the Store cannot say what other processes know of this SOL user and clave, and WithSOLStoreRequired asks for that")

// newError returns err where it is an *Error, and what a guard's refusal means to the caller. Any other error
// is the cause of one without a class, and classified is false: also one that wraps the *Error of another
// call, as the cause of a context may.
func newError(err error, clock clock) (e *Error, classified bool) {
	own, _ := err.(*Error) //nolint:errorlint // see above
	var spent *quota.Spent
	var refused *solguard.Refused
	var failed *coalesce.Failed
	switch {
	case own != nil:
		return own, true
	case errors.As(err, &failed):
		return &Error{cause: failed}, true // the program's own doing says nothing about the service
	case errors.As(err, &spent):
		e = &Error{Err: ErrQuotaExceeded, Message: spent.Error()}
		if !spent.Until.IsZero() {
			e.RetryAfter = max(0, clock.until(spent.Until))
		}
		return e, true
	case errors.Is(err, quota.ErrAway):
		return &Error{Err: ErrUnavailable, Message: quota.ErrAway.Error(), cause: err}, true
	case errors.As(err, &refused):
		return &Error{Err: ErrSOLCredentialsBlocked, Message: refused.Error(), RetryAfter: max(0, clock.until(refused.Until)), mayBeKey: refused.Unexplained || refused.Elsewhere}, true
	case errors.Is(err, exchange.ErrHeaderTooLong):
		return notWhole(0, exchange.ErrHeaderTooLong), true
	case errors.Is(err, errUnsure):
		return &Error{Err: ErrUnavailable, Message: errUnsure.Error(), cause: err}, true
	case errors.Is(err, solguard.ErrImpatient):
		return &Error{Err: ErrUnavailable, Message: solguard.ErrImpatient.Error(), cause: err}, true
	}
	return &Error{cause: err}, false
}

// withEndOf returns err, or nil, with the end of the context and the cause of that, where it has ended and err
// does not say so. An *Error stays as it is.
func withEndOf(ctx context.Context, err error) error {
	if _, says := err.(*Error); says || ctx.Err() == nil { //nolint:errorlint // one that is wrapped is a cause
		return err
	}
	for _, reason := range []error{ctx.Err(), context.Cause(ctx)} {
		if !errors.Is(err, reason) {
			err = errors.Join(err, reason)
		}
	}
	return err
}

// stoppedBy returns why a batch stopped: the *Error of one of its calls as it is, and otherwise the end of ctx
// with its cause, safe to show.
func stoppedBy(ctx context.Context, err error, secrets scrub.Secrets) error {
	err = withEndOf(ctx, err)
	if _, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped is a cause
		return err
	}
	return &safeCause{err, secrets.Line(strings.ReplaceAll(err.Error(), "\n", ": "))} // they are joined
}

// progressFailed is why a batch stops whose Progress failed, and nil where it did not.
func progressFailed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("its Progress failed: %w", err)
}

// notOurs wraps an *Error that a transport answers with, so that it is a cause and stays as it is: other calls
// may get the same one.
func notOurs(err error) error {
	if _, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped is a cause already
		return errors.Join(err)
	}
	return err
}

// classifyAs gives an error that has only a cause the class of another, with what that one says.
func (e *Error) classifyAs(class error) {
	if other := (*Error)(nil); errors.As(class, &other) {
		e.Err, e.Code, e.Message = other.Err, other.Code, other.Message
		return
	}
	e.Err = class
}

// circumstances are what is known of a call that failed, besides what went wrong.
type circumstances struct {
	op         Operation
	attempts   int
	delivery   Delivery
	status     int
	rateLimit  *RateLimit
	retryAfter time.Duration
	body       []byte
	asked      time.Time
	secrets    scrub.Secrets // that no text may show
}

// of adds the circumstances to e, and makes its texts safe to show.
func (c circumstances) of(e *Error) *Error {
	e.Op, e.Attempts, e.Delivery = c.op, c.attempts, c.delivery
	if c.delivery == DeliveryAnswered {
		e.StatusCode, e.RateLimit, e.RetryAfter, e.body = c.status, c.rateLimit, c.retryAfter, c.secrets.Body(c.body)
		e.asked = c.asked
	}
	e.Code, e.Message = c.secrets.Line(e.Code), c.secrets.Line(e.Message)
	if e.cause != nil {
		e.cause = &safeCause{e.cause, c.secrets.Line(e.cause.Error())}
	}
	return e
}

// after adds what is known of the answer that an error comes of.
func (e *Error) after(answered *Error) {
	e.StatusCode, e.Code, e.RateLimit, e.Delivery, e.body = answered.StatusCode, answered.Code, answered.RateLimit, answered.Delivery, answered.body
}

// again returns the error of an earlier call, which was asked then, as that of this one, which was not sent.
func (e *Error) again(op Operation, asked time.Time) *Error {
	return &Error{Op: op, StatusCode: e.StatusCode, Code: e.Code, Message: e.Message, Err: e.Err, body: bytes.Clone(e.body), asked: asked}
}

// copyError returns an *Error that the caller may change.
func copyError(err error) *Error {
	e, _ := newError(err, nil) // what a guard refused is an *Error by now
	c := *e
	c.RateLimit, c.body = e.RateLimit.copy(), bytes.Clone(e.body)
	return &c
}

// safeCause is an error of net/http or of the caller: what it is can be asked, what it says is cleaned. The
// class of another call is not that of this one.
type safeCause struct {
	err  error
	text string
}

func (s *safeCause) Error() string      { return s.text }
func (s *safeCause) As(target any) bool { return errors.As(s.err, target) }
func (s *safeCause) Is(target error) bool {
	_, class := target.(*sentinel)
	return !class && errors.Is(s.err, target)
}

// throttled reports whether a 429 asks for fewer calls at a time, rather than for another day.
func (e *Error) throttled() bool {
	remaining := NoHeader
	if e.RateLimit != nil {
		remaining = e.RateLimit.Remaining
	}
	return e.StatusCode == http.StatusTooManyRequests && throttles(remaining, e.RetryAfter)
}
