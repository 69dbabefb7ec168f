package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/charset"
	"github.com/fiscope/fiscope/internal/errorbody"
	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/internal/scrub"
)

// codes are the error codes that the contract names (docs/contract.md, 7). They take precedence over the status.
var codes = map[string]outcome{
	"NOT_FOUND":               notFound,
	"SEARCH_TOO_SHORT":        tooShort,
	"INVALID_SOL_CREDENTIALS": solRefused,
}

func ofContract(code string) bool { return codes[code] != 0 }

// defaultSlowDown is the wait after a 429 that says that queries are left, without a Retry-After.
const defaultSlowDown = time.Minute

// spentStatuses are those with which a service may refuse a call beyond the quota (docs/contract.md, 8).
var spentStatuses = map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true}

// refusal reads an answer whose status is not 200.
func (a *answer) refusal() (outcome, *Error) {
	said := errorbody.Read(charset.UTF8(a.Body), ofContract)
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
		return a.tooMany(said), e
	case a.Status == http.StatusInternalServerError:
		return failedOnce, e
	case a.Status >= 502 && a.Status <= 504:
		return failedAwhile, e
	case a.Status == http.StatusRequestTimeout, a.Status >= 500 && a.Status < 600:
		return failedForGood, e
	case a.Status == http.StatusNotFound, a.Status < 400, a.Status >= 600: // a 404 without NOT_FOUND does not mean "no such taxpayer"
		return page, e
	case a.Status == http.StatusGone, bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")):
		return refusedPage, e
	case a.Status == http.StatusBadRequest, a.Status == http.StatusUnprocessableEntity:
		return inputRefused, e
	}
	return callRefused, e
}

// denial decides what a 401 or 403 means.
func (a *answer) denial(said errorbody.Body, e *Error) outcome {
	none := a.remaining == 0 && a.rateLimit.Reset.After(a.reading.now)
	switch {
	case none:
		return quotaSpent
	case a.Status == http.StatusForbidden && !said.Says():
		if e.quoted {
			return failedForGood
		}
		e.Message = fmt.Sprintf("a firewall or proxy refused the call (HTTP 403, %s)", cmp.Or(a.media(), "no media type"))
		return failedForGood
	case a.Status == http.StatusUnauthorized && (said.Code == "" || scrub.Digits(said.Code) || a.reading.sol && !aboutKey(said.Code)):
		if !said.Says() {
			e.Message, e.quoted = fmt.Sprintf("a proxy may ask for a login: %s", e.Message), false
		}
		return unexplained
	case a.Status == http.StatusForbidden:
		return keyForbidden
	}
	return keyRefused
}

// aboutKey reports whether the code of a 401 says that it refuses the API key.
func aboutKey(code string) bool {
	code = strings.ToUpper(code)
	return strings.Contains(code, "KEY") || strings.Contains(code, "TOKEN") || code == "UNAUTHORIZED"
}

// tooMany decides whether a 429 means that the day's quota is spent, or that calls came too fast. The contract does not
// tell the two apart (docs/contract.md, 8).
func (a *answer) tooMany(said errorbody.Body) outcome {
	asked, waits := roundtrip.RetryAfter(a.Header, a.reading.now)
	code := strings.ToUpper(said.Code)
	quota := strings.Contains(code, "QUOTA") || strings.Contains(code, "CUOTA")
	switch {
	case a.rateLimit == nil && !waits && !quota:
		return silent
	case a.remaining == 0, a.remaining == unknown && asked > longestSlowDown, a.remaining == unknown && !waits && said.Says() && a.reading.left <= 0:
		return quotaSpent
	}
	return tooFast
}

// retryAfter is how long to wait before the next call; 0 if unknown.
func (a *answer) retryAfter() time.Duration {
	asked, ok := roundtrip.RetryAfter(a.Header, a.reading.now)
	switch {
	case a.outcome == quotaSpent && a.rateLimit != nil && !a.rateLimit.Reset.IsZero():
		return max(asked, a.rateLimit.Reset.Sub(a.reading.now))
	case a.outcome == silent:
		return a.pause
	case a.outcome == tooFast && !ok:
		return defaultSlowDown
	}
	return asked
}

// end decides what a call came to that has no result. err says why no answer came, or no further one.
func (a *answer) end(ctx context.Context, err error) outcome {
	if own, ok := err.(*Error); ok { //nolint:errorlint // a wrapped one is the cause of another call's
		return own.outcome
	}
	var panicked *flight.Panic
	cut := errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	switch {
	case errors.As(err, &panicked):
		return brokeOff // it says nothing about the service
	case a.Status != 0 && !(a.Broken != nil && cut), a.err != nil && a.attempts == 0:
		return a.outcome
	case cut:
		return canceled
	case a.attempts > 0:
		return unanswered
	case errors.Is(err, errDeadlineTooClose):
		return deadlineNear
	case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		return outOfTime
	}
	return brokeOff
}
