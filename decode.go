package fiscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/errorbody"
	"github.com/fiscope/fiscope/internal/scrub"
)

// decode reads the body, which has status 200, as JSON into v. It returns false if the answer is an error.
func (a *answer) decode(v any) bool {
	text := bytes.TrimSpace(scrub.UTF8(a.Body))
	if !utf8.Valid(a.Body) {
		a.warn("the answer is not valid UTF-8: the invalid bytes were read as Windows-1252")
	}
	if bytes.Contains(text, []byte("error")) || bytes.Contains(text, []byte("code")) { // nearly never
		if said := errorbody.Read(text, ofContract); said.IsError {
			a.outcome, a.err = cmp.Or(codes[said.Code], page), a.said(said)
			return false
		}
	}
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, v); {
	case len(text) == 0:
		a.refuse("the answer is empty")
	case errors.As(err, &syntax):
		a.refuse("the answer is not JSON: %s", a.said(errorbody.Body{}).Message)
	case err != nil, string(text) == "null":
		a.refuse("the answer is a JSON %s", kindOf(text[0]))
	}
	return a.err == nil
}

// field is a scalar of an answer. The contract's texts are read from whatever scalar comes.
type field struct {
	text string
	kind byte // the first character of the JSON value; 0 if it is absent or null
}

// UnmarshalJSON never fails: the readers decide what an odd type means.
func (f *field) UnmarshalJSON(raw []byte) error {
	*f = field{kind: raw[0]}
	switch raw[0] {
	case '"':
		if bytes.IndexByte(raw, '\\') >= 0 {
			return json.Unmarshal(raw, &f.text)
		}
		f.text = string(raw[1 : len(raw)-1])
	case 'n':
		f.kind = 0
	case '{', '[':
	default:
		f.text = string(raw)
	}
	return nil
}

// odd reports whether the value is of another type than text.
func (f field) odd() bool { return f.kind != 0 && f.kind != '"' }

// kindOf returns the type of a JSON value by its first character.
func kindOf(first byte) string {
	switch first {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// optional returns a text that may be missing.
func (a *answer) optional(name string, f field) string {
	if f.odd() {
		a.warn("%s is a JSON %s", name, kindOf(f.kind))
	}
	return f.text
}

// expected returns a text, and warns if it is missing.
func (a *answer) expected(name string, f field) string {
	if f.kind == 0 || f.kind == '"' && f.text == "" {
		a.warn("%s is missing", name)
	}
	return a.optional(name, f)
}

// required returns a text, and refuses the answer if it is missing. Lenient reading accepts another type.
func (a *answer) required(name string, f field) string {
	switch {
	case f.kind == 0:
		a.refuse("%s is missing", name)
	case f.odd():
		a.contradicts("%s is a JSON %s", name, kindOf(f.kind))
	}
	return f.text
}

// date returns an optional date: zero if missing, "" or "-".
func (a *answer) date(name string, f field) Fecha {
	text := strings.TrimSpace(f.text)
	if text == "" && !f.odd() || text == "-" {
		return Fecha{}
	}
	fecha, err := ParseFecha(text)
	if err != nil {
		a.warn("%s is not a date: %s", name, a.quote(text))
		return Fecha{}
	}
	return fecha
}
