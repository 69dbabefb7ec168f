package mockserver

import (
	"net/http"
	"strconv"
	"time"
)

// ResetForm is how X-RateLimit-Reset writes its instant: docs/contrato.md, 8, says ISO 8601 in UTC, which has many
// forms.
type ResetForm string

// The forms.
const (
	ResetSeconds        ResetForm = "seconds"         // 2026-11-21T05:00:00Z
	ResetFraction       ResetForm = "fraction"        // 2026-11-21T05:00:00.000Z
	ResetOffset         ResetForm = "offset"          // 2026-11-21T05:00:00+00:00
	ResetFractionOffset ResetForm = "fraction-offset" // 2026-11-21T05:00:00.000+00:00
)

var resetForms = []ResetForm{ResetSeconds, ResetFraction, ResetOffset, ResetFractionOffset}

// write returns the text of a reset. Seconds are rounded up: at the instant that a client is told, the quota has
// begun anew.
func (f ResetForm) write(reset time.Time) string {
	reset = reset.UTC()
	switch f {
	case ResetFraction:
		return reset.Format("2006-01-02T15:04:05.000Z")
	case ResetFractionOffset:
		return reset.Format("2006-01-02T15:04:05.000+00:00")
	case ResetOffset:
		return roundUp(reset, time.Second).Format("2006-01-02T15:04:05+00:00")
	}
	return roundUp(reset, time.Second).Format("2006-01-02T15:04:05Z")
}

// RetryAfterForm is whether and how a spent quota carries the header Retry-After, of which docs/contrato.md says
// nothing.
type RetryAfterForm string

// The forms (RFC 9110, 10.2.3). Both are the time until the reset.
const (
	RetryAfterNone    RetryAfterForm = "none"
	RetryAfterSeconds RetryAfterForm = "seconds" // a whole number
	RetryAfterInstant RetryAfterForm = "date"    // an HTTP date
)

var retryAfterForms = []RetryAfterForm{RetryAfterNone, RetryAfterSeconds, RetryAfterInstant}

// write returns the text of the header, or "" for none.
func (f RetryAfterForm) write(reset, now time.Time) string {
	switch f {
	case RetryAfterSeconds:
		return strconv.FormatInt(int64((reset.Sub(now)+time.Second-1)/time.Second), 10)
	case RetryAfterInstant:
		return roundUp(reset, time.Second).UTC().Format(http.TimeFormat)
	}
	return ""
}

func roundUp(t time.Time, to time.Duration) time.Time { return t.Add(to - 1).Truncate(to) }
