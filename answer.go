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

// newAnswer begins to read what an attempt brought.
func newAnswer(a exchange.Answer, r reading) answer {
	read := answer{Answer: a, reading: r}
	if a.Header != nil {
		read.rateLimit, read.quota, read.warnings = parseRateLimit(a.Header, a.At)
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
	return answerError(a.Status, said.Code, said.Error, nothingLeft(a.rateLimit, a.quota))
}

// errorBody is the contract's error (docs/contrato.md, 2.6).
type errorBody struct {
	Error string
	Code  string
}

// errorMembers are the members of an error body, also where they stand in an answer with status 200.
type errorMembers struct {
	Error json.RawMessage `json:"error"`
	Code  json.RawMessage `json:"code"`
}

// errorBody returns what the members say, also where they stand one level deeper (error:{code}), and
// whether they say anything.
func (m *errorMembers) errorBody() (errorBody, bool) {
	b := errorBody{Error: memberText(m.Error)}
	code, ofContract := contractCode(memberText(m.Code))
	b.Code = code
	if len(m.Error) == 0 || m.Error[0] != '{' {
		return b, b != errorBody{}
	}
	var inner struct {
		errorMembers
		Message, Mensaje json.RawMessage
	}
	if json.Unmarshal(m.Error, &inner) == nil {
		b.Error = cmp.Or(memberText(inner.Error), memberText(inner.Message), memberText(inner.Mensaje), b.Error)
		if code, known := contractCode(memberText(inner.Code)); known && !ofContract || strings.TrimSpace(b.Code) == "" {
			b.Code = code
		}
	}
	return b, b != errorBody{}
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

// memberText returns a string member's text, another value as it stands, and "" for what says nothing.
func memberText(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] != '"':
		return valueText(raw)
	case bytes.IndexByte(raw, '\\') >= 0:
		var unescaped string
		_ = json.Unmarshal(raw, &unescaped) // it was a value of a text that is JSON
		return orNothing(unescaped)
	}
	return orNothing(string(raw[1 : len(raw)-1]))
}

// orNothing returns a text, and "" for blanks.
func orNothing(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// valueText is memberText of a value that is no string.
func valueText(raw json.RawMessage) string {
	var n float64
	if json.Unmarshal(raw, &n) == nil && n == 0 { // 0 and null
		return ""
	}
	text := string(raw)
	switch strings.Join(strings.Fields(text), "") {
	case "false", "{}", "[]":
		return ""
	}
	return text
}

func readErrorBody(body []byte) (errorBody, bool) {
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("<")) { // a page, which may be long
		return errorBody{}, false
	}
	var m errorMembers
	if json.Unmarshal(scrub.UTF8(body), &m) != nil {
		return errorBody{}, false
	}
	return m.errorBody()
}

// decode reads the body as JSON into v, which has the members of these names and can hold errorMembers: an
// error body inside a 200 is its code's error.
func (a *answer) decode(names members.Names, v interface {
	errorBody() (errorBody, bool)
}) error {
	if err := a.unmarshal(a.text(), names, v); err != nil {
		return err
	}
	if said, ok := v.errorBody(); ok {
		return a.errorInside(said)
	}
	return nil
}

// text returns the body as UTF-8.
func (a *answer) text() []byte {
	text := scrub.UTF8(a.Body)
	if !utf8.Valid(a.Body) {
		a.warn("the answer is not valid UTF-8: the invalid bytes were read as Windows-1252")
	}
	return text
}

func (a *answer) unmarshal(body []byte, names members.Names, v any) error {
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
		return notContract("%s", unreadable(err, body, a.reading.secrets()))
	}
	switch name, differs := names.Repeated(body); {
	case differs:
		a.contradicts("%s comes twice, and not the same", name)
	case name != "":
		a.warn("%s comes twice", name)
	}
	return nil
}

// errorInside is an error body that came with status 200.
func (a *answer) errorInside(said errorBody) error {
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

// ausente stands in a key field until the answer fills it, which null does not: so "absent" is told
// apart from "".
const ausente = "\x00"

// missing takes names and values, and refuses a value that the answer did not fill.
func missing(namesAndValues ...string) error {
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] == ausente {
			return notContract("%s is missing", namesAndValues[i])
		}
	}
	return nil
}

// fechaLeida is a date as it stands in an answer. One that cannot be read fails no decoding, since the
// record is worth more than a date that the contract does not promise: unreadable then holds its text.
type fechaLeida struct {
	fecha      Fecha
	unreadable string
}

// UnmarshalJSON never fails.
func (f *fechaLeida) UnmarshalJSON(raw []byte) error {
	switch text := memberText(raw); text {
	case "", "-":
	default:
		var err error
		if f.fecha, err = ParseFecha(text); err != nil {
			f.unreadable = text
		}
	}
	return nil
}
