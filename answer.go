package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is what one attempt brought: a status with what could be read, or an error.
type answer struct {
	call      *call
	status    int // 0 where no answer came
	header    http.Header
	body      []byte
	broken    error // why the body is not whole
	rateLimit *RateLimit
	warnings  []string
	err       error // why no answer came
	provesSOL bool  // the tax authority accepted the credential

	contradiction error // the first thing in the answer that excludes another, or what was asked
	contradicted  bool  // there is one, and lenient reading lets it pass
}

// receive reads the answer whole, but no more of it than max bytes after decompression. A body that
// trickles in counts into its attempt's time.
func (a *answer) receive(resp *http.Response, max int64) {
	a.status, a.header = resp.StatusCode, resp.Header
	a.rateLimit, a.warnings = parseRateLimit(resp.Header, time.Now())
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= max {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, a.broken = b.ReadFrom(io.LimitReader(resp.Body, max+1))
	if a.body = b.Bytes(); int64(len(a.body)) > max {
		a.broken = errTooLong
	}
	if a.broken != nil { // what is read of it now is only shown
		a.body = []byte(a.call.scrubber().withoutTail(string(a.body)))
	}
	_ = resp.Body.Close()
	if errors.Is(a.broken, context.Canceled) || errors.Is(a.broken, context.DeadlineExceeded) {
		a.status, a.err = 0, a.broken // time ran out: that the rest is missing says nothing about the answer
	}
}

var errTooLong = errors.New("it is longer than the client reads")

// refusal returns the error that the answer is, or nil for a whole 200 (service.md, 4: the success of
// every operation).
func (a *answer) refusal() error {
	if a.status == http.StatusOK {
		if a.broken != nil {
			return &Error{kind: ErrMalformedResponse, Message: fmt.Sprintf("the answer is not whole, after %d bytes: %v", len(a.body), a.broken), cause: a.broken}
		}
		return nil
	}
	said, ok := readErrorBody(a.body)
	if !ok {
		said = errorBody{Error: pageText(string(a.body))}
	}
	if a.status >= 300 && a.status < 400 {
		said.Error = "to another address"
		if target, err := url.Parse(a.header.Get("Location")); err == nil && target.Host != "" {
			said.Error = "to the host " + target.Host
		}
	}
	return said.as(a.status)
}

// errorBody is the contract's error (service.md, 2.6).
type errorBody struct {
	Error string
	Code  string
}

func (b errorBody) as(status int) *Error {
	return &Error{kind: classOf(status, b.Code), Code: b.Code, Message: b.Error}
}

// errorMembers are the members of an error body, also where they stand in an answer with status 200.
type errorMembers struct {
	Error json.RawMessage `json:"error"`
	Code  json.RawMessage `json:"code"`
}

func (m *errorMembers) errorBody() (errorBody, bool) {
	b := errorBody{Error: memberText(m.Error), Code: memberText(m.Code)}
	return b, b != errorBody{}
}

// memberText returns a string member's text, another value as it stands, and "" for what says nothing.
func memberText(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0: // the usual one needs no parser
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	switch s = string(raw); s {
	case "null", "false", "0", "{}", "[]":
		return ""
	}
	return s
}

func readErrorBody(body []byte) (errorBody, bool) {
	var m errorMembers
	if json.Unmarshal(utf8Text(body), &m) != nil {
		return errorBody{}, false
	}
	return m.errorBody()
}

// decode reads the body as JSON into v, which can hold errorMembers: an error body inside a 200 is its
// code's error.
func (a *answer) decode(v interface {
	errorBody() (errorBody, bool)
}) error {
	body := a.text()
	if err := a.unmarshal(body, v); err != nil {
		return err
	}
	if said, ok := v.errorBody(); ok {
		return a.errorInside(said)
	}
	return nil
}

// text returns the body as UTF-8.
func (a *answer) text() []byte {
	text := utf8Text(a.body)
	if !utf8.Valid(a.body) {
		a.warn("the answer is not valid UTF-8: the invalid bytes were read as Windows-1252")
	}
	return text
}

func (a *answer) unmarshal(body []byte, v any) error {
	switch trimmed := bytes.TrimSpace(body); {
	case len(trimmed) == 0:
		return notContract("the answer is empty")
	case string(trimmed) == "null":
		return notContract("the answer is null")
	}
	if err := json.Unmarshal(body, v); err != nil {
		if said, ok := readErrorBody(body); ok {
			return a.errorInside(said)
		}
		return notContract("%s", unreadable(err, body))
	}
	return nil
}

// unreadable says why a body is not the JSON of the contract. Of a body that is no JSON at all it shows
// the text, which usually names the culprit; of another it shows no data.
func unreadable(err error, body []byte) string {
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		member := cmp.Or(shape.Field, "the answer")
		return fmt.Sprintf("%s is a JSON %s", member, shape.Value)
	}
	if first := bytes.TrimSpace(body)[0]; first == '{' || first == '[' {
		return strings.TrimPrefix(err.Error(), "fiscope: ")
	}
	return "the answer is not JSON: " + visible(pageText(string(body)))
}

// errorInside is an error body that came with status 200.
func (a *answer) errorInside(said errorBody) error {
	e := said.as(a.status)
	if strings.TrimSpace(e.Message) == "" {
		e.Message = "an error came with status 200"
	}
	return e
}

func notContract(format string, args ...any) error {
	return &Error{kind: ErrMalformedResponse, Message: fmt.Sprintf(format, args...)}
}

func (a *answer) warn(format string, args ...any) {
	a.warnings = append(a.warnings, fmt.Sprintf(format, args...))
}

// quote shows a value of the answer in a text of ours.
func (a *answer) quote(value string) string {
	return strconv.Quote(cut(a.call.scrubber().redact(visible(value)), longestQuote))
}

const longestQuote = 40

// contradicts notes that the answer cannot be what it seems; lenient reading only warns of it.
func (a *answer) contradicts(format string, args ...any) {
	switch {
	case a.call.client.lenient:
		a.contradicted = true
		a.warn(format, args...)
	case a.contradiction == nil:
		a.contradiction = notContract(format, args...)
	}
}
