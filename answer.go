package fiscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/members"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/scrub"
)

// answer is what one attempt brought, and what was found in reading it.
type answer struct {
	exchange.Answer
	reading   reading
	rateLimit *RateLimit
	quota     quota.Headers // what it says to the quota gate
	result    any           // what the operation made of it; nil where err is not
	err       error         // why it is no result, before the circumstances of its call are added
	warnings  []string
	provesSOL bool // the tax authority accepted the credential

	contradiction error // the first thing in the answer that excludes another, or what was asked
	contradicted  bool  // there is one, and lenient reading lets it pass
}

// reading is how a client reads the answers to a call.
type reading struct {
	lenient bool          // contradictions are warnings
	apiKey  scrub.Secrets // what no text may show ...
	clave   Secreto       // ... and this, of a validation
}

// secrets returns what the call carries and no text may show.
func (r reading) secrets() scrub.Secrets { return r.apiKey.With(r.clave.text()) }

// newAnswer begins to read what an attempt brought, whose headers came at that time of the calendar.
func newAnswer(a exchange.Answer, r reading, at time.Time) answer {
	read := answer{Answer: a, reading: r}
	if a.Header != nil {
		read.rateLimit, read.quota, read.warnings = parseRateLimit(a.Header, at)
	}
	if a.Broken != nil { // a cut body is only shown: its end may hold a part of a secret
		read.Body = r.secrets().WithoutTail(a.Body)
	}
	return read
}

// refusal returns the error that the answer is, or nil for a whole 200 (docs/contrato.md, 4: the success of
// every operation).
func (a *answer) refusal() error {
	switch {
	case a.Broken != nil && (a.Status == http.StatusOK || errors.Is(a.Broken, exchange.ErrHeaderTooLong)):
		return notWhole(len(a.Body), a.Broken)
	case a.Status == http.StatusOK:
		return nil
	}
	said, ok := readErrorBody(a.Body)
	if !ok {
		said = errorBody{Error: pageText(a.Status, a.Body, a.reading.secrets())}
	}
	if a.Status >= 300 && a.Status < 400 {
		said.Error = "to another address"
		if target, err := url.Parse(a.reading.secrets().Redact(a.Header.Get("Location"))); err == nil && target.Host != "" {
			said.Error = "to the host " + target.Host
		}
	}
	e := answerError(a.Status, said.Code, said.Error, nothingLeft(a.rateLimit, a.quota))
	e.ofContract = ok
	return e
}

// errorBody is the contract's error (docs/contrato.md, 2.6).
type errorBody struct {
	Error string
	Code  string
}

// errorMembers are the members of an error body, and those of an error that is an object.
var errorMembers = members.NewNames("error", "code", "message", "mensaje")

// readErrorBody returns what an error body says, and whether it is one that says anything.
func readErrorBody(body []byte) (errorBody, bool) {
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("<")) { // a page, which may be long
		return errorBody{}, false
	}
	text := scrub.UTF8(body)
	if !json.Valid(text) {
		return errorBody{}, false
	}
	o := errorMembers.Read(text)
	said, ok := errorBodyOf(&o)
	if message := cmp.Or(plainText(o.Get("message")), plainText(o.Get("mensaje"))); ok && (said.Error == "" || said.Error == otherText(o.Get("error"))) {
		said.Error = cmp.Or(withoutRecord(message), said.Error)
	}
	return said, ok
}

// errorBodyOf is readErrorBody of an object. What it says may stand one level deeper: error:{code}.
func errorBodyOf(o *members.Object) (errorBody, bool) {
	raw := o.Get("error")
	if raw == nil && o.Get("code") == nil { // nearly always
		return errorBody{}, false
	}
	inner := errorMembers.Read(raw)
	text := cmp.Or(plainText(raw), plainText(inner.Get("error")), plainText(inner.Get("message")), plainText(inner.Get("mensaje")))
	code, ofContract := codeOf(o)
	if deeper, known := codeOf(&inner); known && !ofContract || strings.TrimSpace(code) == "" {
		code = deeper
	}
	text = cmp.Or(text, otherText(raw))
	return errorBody{withoutRecord(text), withoutRecord(code)}, text != "" || code != ""
}

// plainText returns a JSON string's text, and "" for another value, or one that says nothing.
func plainText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	text := textIn(raw)
	if saysNothing(text) {
		return ""
	}
	return text
}

// codeOf returns the code of an error, and whether it is one of the contract's. Of several that differ none
// counts, since it could be the other one; but that a clave was refused does, whatever else is said.
func codeOf(o *members.Object) (code string, ofContract bool) {
	for i, raw := range o.All("code") {
		other, known := contractCode(codeText(raw))
		switch {
		case other == CodeInvalidSOLCredentials:
			return other, true
		case i == 0:
			code, ofContract = other, known
		case code != other:
			code, ofContract = "", false
		}
	}
	return code, ofContract
}

// codeText returns the text of a code, which may be a number.
func codeText(raw []byte) string {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return ""
	}
	return cmp.Or(plainText(raw), otherText(raw))
}

// otherText returns a value as it stands that is no string, and "" for one that says nothing.
func otherText(raw []byte) string {
	if saysNothing(string(raw)) || raw[0] == '"' {
		return ""
	}
	return string(raw)
}

// saysNothing reports whether a text is blank, or what a program writes for nothing.
func saysNothing(text string) bool {
	const longest = len("false")
	var letters [longest + utf8.UTFMax]byte // the first ones, more than any such text has: texts may be long
	n := 0
	for _, r := range text {
		if n > longest {
			break
		}
		if !unicode.IsSpace(r) {
			n += utf8.EncodeRune(letters[n:], r)
		}
	}
	switch string(letters[:n]) {
	case "", "false", "null", "{}", "[]":
		return true
	}
	if !strings.ContainsRune("0123456789+-.", rune(letters[0])) { // to say that a text is no number costs more
		return false
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil && number == 0
}

// withoutRecord returns the text of an error, and says so where it holds a taxpayer's record.
func withoutRecord(text string) string {
	if strings.Count(text, `"`) >= 4 && isRecord(scrub.Visible(text)) {
		return recordNotShown
	}
	return text
}

// contractCode returns a code as the contract writes it, where that differs in case or blanks alone, and
// whether it is one of the contract's.
func contractCode(code string) (string, bool) {
	switch plain := strings.ToUpper(strings.Join(strings.Fields(code), "_")); plain {
	case CodeNotFound, CodeSearchTooShort, CodeInvalidSOLCredentials:
		return plain, true
	}
	return code, false
}

// textIn returns the text of a JSON string.
func textIn(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var unescaped string
	_ = json.Unmarshal(raw, &unescaped) // it is a value of a text that is JSON
	return unescaped
}

// errorInside is an error body that came with status 200.
func (a *answer) errorInside(said errorBody) *Error {
	if strings.TrimSpace(said.Error) == "" {
		said.Error = "an error came with status 200"
	}
	return answerError(a.Status, said.Code, said.Error, false)
}

func (a *answer) warn(format string, args ...any) {
	a.warnings = append(a.warnings, fmt.Sprintf(format, args...))
}

// quote shows a value of the answer in a text of ours.
func (a *answer) quote(value string) string {
	return strconv.Quote(scrub.Cut(a.reading.secrets().Line(value), longestQuote))
}

const longestQuote = 40

// contradicts notes that the answer cannot be what it seems; lenient reading only warns of it.
func (a *answer) contradicts(format string, args ...any) {
	switch {
	case a.reading.lenient:
		a.contradicted = true
		a.warn(format, args...)
	case a.contradiction == nil:
		a.contradiction = notContract(format, args...)
	}
}
