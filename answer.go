package fiscope

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fiscope/fiscope/internal/errorbody"
	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/scrub"
)

// answer is what one attempt returned, and what it means.
type answer struct {
	exchange.Answer
	reading   reading
	outcome   outcome
	result    any        // the operation's result; nil if there is none
	err       *Error     // why there is no result: class, code, message and cause; nil for a result
	warnings  []string   // odd but harmless
	rateLimit *RateLimit // nil if no header came
	reset     time.Time  // the header's, even if it is in the past

	attempts  int
	delivery  Delivery // of all attempts
	again     bool     // the previous attempt failed in the same way
	provesSOL bool     // the tax authority accepted the credential
	lenient   bool     // lenient reading let a contradiction pass
	shared    bool     // other calls have the same result
	coalesced bool     // it came from another call's query
	kept      *entry   // its cache entry; nil if it did not come from the cache
}

// entry is a cached answer. It is immutable.
type entry struct {
	answer   answer        // its result, status, warnings and time of request
	missing  *Error        // NOT_FOUND; nil for a result
	stored   time.Time     // calendar time
	lifetime time.Duration // how long it stays fresh from then on
}

// reading is how the answers to a call are read.
type reading struct {
	lenient bool
	secrets scrub.Secrets // the secrets that the call sends
	known   *RateLimit    // the quota before this answer; nil if unknown
	now     time.Time     // calendar time
}

// outcomes says what follows from each outcome.
var outcomes = [...]struct {
	class error // the class of the call's error
	away  bool  // the service gave no usable answer: use a fallback
	retry retryRule
}{
	unanswered:    {ErrUnavailable, true, retryPassing},
	found:         {},
	notFound:      {class: ErrNotFound},
	tooShort:      {class: ErrSearchTooShort},
	inputRefused:  {class: ErrInvalidRequest},
	refusedPage:   {ErrInvalidRequest, true, retryNever},
	solRefused:    {class: ErrInvalidSOLCredentials},
	keyRefused:    {class: ErrUnauthorized},
	unexplained:   {class: ErrUnauthorized},
	quotaSpent:    {ErrQuotaExceeded, true, retryNever},
	tooFast:       {ErrQuotaExceeded, true, retryAsked},
	failedOnce:    {ErrUnavailable, true, retryOnce},
	failed:        {ErrUnavailable, true, retryAlways},
	failedForGood: {ErrUnavailable, true, retryNever},
	bodyBroke:     {ErrUnavailable, true, retryPassing},
	page:          {ErrMalformedResponse, true, retryNever},
	redirected:    {ErrRedirect, true, retryNever},
	contradictory: {class: ErrMalformedResponse},
}

// spentStatuses are those with which a service may refuse a call beyond the quota (docs/contract.md, 8).
var spentStatuses = map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true}

// codes are the contract's error codes (docs/contract.md, 7). They take precedence over the status.
var codes = map[string]outcome{
	codeNotFound:              notFound,
	codeSearchTooShort:        tooShort,
	codeInvalidSOLCredentials: solRefused,
}

func ofContract(code string) bool { return codes[code] != 0 }

// read decides what the answer means. result reads the body of a 200.
func (a *answer) read(result func(*answer) any) {
	if a.Header != nil {
		a.rateLimit, a.reset, a.warnings = parseRateLimit(a.Header, a.reading.now, spentStatuses[a.Status])
	}
	switch {
	case a.Status == 0:
		a.err = &Error{cause: a.Err}
	case a.Status != http.StatusOK:
		a.outcome, a.err = a.refusal()
	case errors.Is(a.Broken, exchange.ErrTooLong):
		a.outcome, a.err = page, a.notWhole()
	case a.Broken != nil:
		a.outcome, a.err = bodyBroke, a.notWhole()
	default:
		a.outcome = found
		a.result = result(a)
		if a.err != nil {
			a.result = nil
			if a.outcome == found {
				a.outcome = page
			}
		}
	}
	if a.err != nil {
		a.err.Err, a.err.outcome = outcomes[a.outcome].class, a.outcome
	}
}

func (a *answer) notWhole() *Error {
	text := fmt.Sprintf("the answer is not whole, after %d bytes: %v", len(a.Body), a.Broken)
	return &Error{Message: a.reading.secrets.Line(text), cause: a.Broken}
}

// refusal reads an answer whose status is not 200.
func (a *answer) refusal() (outcome, *Error) {
	said := errorbody.Read(scrub.UTF8(a.Body), ofContract)
	e := a.said(said)
	if o, known := codes[said.Code]; known {
		return o, e
	}
	switch {
	case a.Status >= 300 && a.Status < 400 && a.Status != http.StatusNotModified:
		e.Message, e.quoted = "to another address", false
		if target, err := url.Parse(a.Header.Get("Location")); err == nil && target.Host != "" {
			e.Message = a.reading.secrets.Line("to the host " + target.Host)
		}
		return redirected, e
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
		return a.denial(said, e), e
	case a.Status == http.StatusPaymentRequired:
		return keyRefused, e
	case a.Status == http.StatusTooManyRequests:
		if a.spent(said.Says()) {
			return quotaSpent, e
		}
		return tooFast, e
	case a.Status == http.StatusInternalServerError:
		return failedOnce, e
	case a.Status >= 502 && a.Status <= 504:
		return failed, e
	case a.Status == http.StatusRequestTimeout, a.Status >= 500 && a.Status < 600:
		return failedForGood, e
	case a.Status == http.StatusNotFound, a.Status < 400, a.Status >= 600: // a 404 without NOT_FOUND does not mean "no such taxpayer"
		return page, e
	case bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")):
		return refusedPage, e
	}
	return inputRefused, e
}

// denial decides what a 401 or 403 means.
func (a *answer) denial(said errorbody.Body, e *Error) outcome {
	none := a.rateLimit.left() == 0 && a.rateLimit.Reset.After(a.reading.now)
	switch {
	case none:
		return quotaSpent
	case a.Status == http.StatusForbidden && !said.Says():
		e.Message, e.quoted = fmt.Sprintf("a firewall or proxy refused the call (HTTP 403, %s)", cmp.Or(a.media(), "no media type")), false
		return failedForGood
	case a.Status == http.StatusUnauthorized && digitsOrNone(said.Code):
		if !said.Says() {
			e.Message, e.quoted = fmt.Sprintf("a proxy may ask for a login: %s", e.Message), false
		}
		return unexplained
	}
	return keyRefused
}

// digitsOrNone reports whether an error code is empty or only digits, such as 401.
func digitsOrNone(code string) bool { return code == "" || scrub.Digits(code) }

// spent reports whether a 429 means that the day's quota is spent, not that calls came too fast. fromService means that
// the body is an error of the service. The contract does not tell the two apart (docs/contract.md, 7).
func (a *answer) spent(fromService bool) bool {
	if left := a.rateLimit.left(); left != unknown {
		return left == 0
	}
	if asked, ok := exchange.RetryAfter(a.Header, a.reading.now); ok {
		return asked > longestSlowDown
	}
	left := a.reading.known.left() > 0 && a.reading.known.Reset.After(a.reading.now)
	return fromService && !left
}

// mayPass reports whether an immediate retry may succeed.
func (a *answer) mayPass() bool {
	switch outcomes[a.outcome].retry {
	case retryPassing:
		return a.Passing()
	case retryOnce:
		return !a.again
	case retryAlways:
		return true
	case retryAsked:
		_, asked := exchange.RetryAfter(a.Header, a.reading.now)
		return asked
	case retryNever:
	}
	return false
}

// retryAfter is how long to wait before the next call; 0 if unknown.
func (a *answer) retryAfter() time.Duration {
	asked, ok := exchange.RetryAfter(a.Header, a.reading.now)
	switch {
	case a.outcome == quotaSpent && a.rateLimit != nil && !a.rateLimit.Reset.IsZero():
		return max(asked, a.rateLimit.Reset.Sub(a.reading.now))
	case a.outcome == tooFast && !ok:
		return defaultSlowDown
	}
	return asked
}

// said returns an error body as an *Error: its code, and its text if that is safe to show.
func (a *answer) said(b errorbody.Body) *Error {
	e := &Error{Code: b.Code}
	if _, known := codes[b.Code]; !known {
		e.Code, _ = a.reading.secrets.Sentence(b.Code)
	}
	if b.Text == "" && a.Broken == nil {
		b.Text = errorbody.Page(scrub.UTF8(a.Body))
	}
	if e.Message, e.quoted = a.reading.secrets.Sentence(b.Text); !e.quoted {
		e.Message = a.form()
	}
	return e
}

// form describes an answer whose text is not shown.
func (a *answer) form() string {
	if len(a.Body) == 0 {
		return "an empty answer"
	}
	if media := a.media(); media != "" {
		return fmt.Sprintf("%d bytes of %s", len(a.Body), media)
	}
	return fmt.Sprintf("%d bytes", len(a.Body))
}

// media returns the media type of an answer; "" if missing or invalid.
func (a *answer) media() string {
	media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if shown, ok := a.reading.secrets.Sentence(media); err == nil && ok {
		return shown
	}
	return ""
}

func (a *answer) warn(format string, args ...any) {
	a.warnings = append(a.warnings, fmt.Sprintf(format, args...))
}

// quote returns a value of the answer as our own texts may show it.
func (a *answer) quote(value string) string {
	shown, ok := a.reading.secrets.Sentence(scrub.Cut(value, 40))
	if !ok && value != "" {
		return "(" + strconv.Itoa(len(value)) + " bytes)"
	}
	return strconv.Quote(shown)
}

// refuse makes the answer unusable, even for lenient reading.
func (a *answer) refuse(format string, args ...any) {
	if a.err == nil {
		a.err = notContract(format, args...)
	}
}

// contradicts refuses an answer that contradicts itself or the question. Lenient reading only warns.
func (a *answer) contradicts(format string, args ...any) {
	if a.reading.lenient {
		a.lenient = true
		a.warn(format, args...)
		return
	}
	if a.err == nil {
		a.outcome = contradictory
	}
	a.refuse(format, args...)
}
