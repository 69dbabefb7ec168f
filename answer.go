package fiscope

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/internal/charset"
	"github.com/fiscope/fiscope/internal/errorbody"
	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/internal/scrub"
)

// maxBody is how many bytes of an answer are read at most, after decompression.
const maxBody = 1 << 20

// answer is what one attempt returned, and what it means.
type answer struct {
	roundtrip.Answer
	reading   reading
	outcome   outcome
	result    any           // the operation's result; nil if there is none
	err       *Error        // what the service or the network says is wrong: class, code, message and cause; nil for a result
	warnings  []string      // odd but harmless
	rateLimit *RateLimit    // nil if no header came
	remaining int           // the header's, or unknown
	reset     time.Time     // the header's, even if it is in the past
	pause     time.Duration // that a 429 which says nothing asks for

	attempts  int
	delivery  Delivery // of all attempts
	again     bool     // the previous attempt failed in the same way
	provesSOL bool     // the tax authority accepted the credential
	lenient   bool     // lenient reading accepted a contradiction
	shared    bool     // other calls have the same result
	joined    bool     // the query was another call's

	source Source        // where the result or the error came from; "" if nobody answered
	asOf   time.Time     // when the service gave the result or NOT_FOUND, or the date of a Respaldo; calendar time
	behind *Error        // the service's failure behind a fallback's result; nil for any other
	took   time.Duration // the whole call
}

// reading is how the answers to a call are read.
type reading struct {
	lenient bool
	sol     bool          // the call sends a SOL credential
	secrets scrub.Secrets // the secrets that the call sends
	left    int           // queries left, as far as was known before; 0 or less if none or unknown
	now     time.Time     // calendar time
}

// read decides what the answer means. result reads the body of a 200.
func (a *answer) read(result func(*answer) any) {
	if a.Header != nil {
		a.rateLimit, a.reset, a.warnings = parseRateLimit(a.Header, a.reading.now, spentStatuses[a.Status])
	}
	a.remaining = a.rateLimit.left()
	switch {
	case a.Status == 0:
		a.outcome, a.err = unanswered, &Error{cause: a.Err}
	case a.Status != http.StatusOK:
		a.outcome, a.err = a.refusal()
	case a.Broken != nil:
		text := fmt.Sprintf("the answer is not whole, after %d bytes: %v", len(a.Body), a.Broken)
		a.outcome, a.err = bodyBroke, &Error{Message: a.reading.secrets.Line(text), cause: a.Broken}
		if errors.Is(a.Broken, roundtrip.ErrTooLong) {
			a.outcome = page
		}
	default:
		a.outcome = found
		warnings := a.warnings
		a.result = result(a)
		if a.err != nil {
			a.result, a.warnings = nil, warnings // nobody reads the fields of a refused answer
		}
	}
	if a.err != nil {
		a.err.Err, a.err.outcome = outcomes[a.outcome].class, a.outcome
	}
}

// said returns an error body as an *Error: its code, and its text if that is safe to show.
func (a *answer) said(b errorbody.Body) *Error {
	e := &Error{Code: strings.Clone(b.Code)} // it is a part of the body
	if _, known := codes[b.Code]; !known {
		e.Code, _ = a.reading.secrets.Sentence(b.Code)
	}
	if b.Text == "" && a.Broken == nil {
		b.Text = errorbody.Page(charset.UTF8(a.Body))
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

// refuse makes the answer unusable, even for lenient reading. The first reason wins.
func (a *answer) refuse(o outcome, format string, args ...any) {
	if a.err == nil {
		a.outcome, a.err = o, newError(o, format, args...)
	}
}

// doubt refuses an answer. Lenient reading only warns.
func (a *answer) doubt(o outcome, format string, args ...any) {
	if a.reading.lenient {
		a.lenient = true
		a.warn(format, args...)
		return
	}
	a.refuse(o, format, args...)
}
