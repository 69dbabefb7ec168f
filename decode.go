package fiscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/fiscope/fiscope/internal/charset"
	"github.com/fiscope/fiscope/internal/errorbody"
	"github.com/fiscope/fiscope/internal/jsonobject"
)

// json returns the body of a 200 if it is a JSON value that begins with first. Otherwise it sets the error and returns
// nil.
func (a *answer) json(first byte) []byte {
	text := bytes.TrimSpace(charset.UTF8(a.Body))
	if !bytes.Contains(a.Body, text) { // it was converted
		a.warn("the answer is not valid UTF-8: the invalid bytes were read as Windows-1252")
	}
	valid := json.Valid(text)
	if valid && (bytes.Contains(text, []byte("error")) || bytes.Contains(text, []byte("code"))) { // rare
		if said := errorbody.Read(text, ofContract); said.IsError {
			a.outcome, a.err = cmp.Or(codes[said.Code], page), a.said(said)
			return nil
		}
	}
	switch {
	case len(text) == 0:
		a.refuse(page, "the answer is empty")
	case !valid:
		a.refuse(page, "the answer is not JSON: %s", a.said(errorbody.Body{}).Message)
	case text[0] != first:
		a.refuse(page, "the answer is a JSON %s", kindOf(text[0]))
	default:
		return text
	}
	return nil
}

// object is a JSON object of an answer. Its members have the contract's names.
type object struct {
	*answer
	members jsonobject.Object
}

// scalar is a member of an answer. The contract's texts are read from any scalar.
type scalar struct {
	text string
	kind byte // the first character of the JSON value; 0 if it is absent or null
}

// object returns false if the answer is an error.
func (a *answer) object() (o object, ok bool) {
	text := a.json('{')
	return object{a, jsonobject.Of(string(text))}, text != nil
}

// longestPinned is the longest body, in bytes, that its texts keep in memory. Those of a longer one are copied.
const longestPinned = 800

func (o object) field(name string) scalar {
	raw := o.members.Get(name)
	if len(raw) == 0 || raw[0] == 'n' {
		return scalar{}
	}
	text := jsonobject.Text(raw)
	if len(o.Body) > longestPinned {
		text = strings.Clone(text)
	}
	return scalar{text, raw[0]}
}

// odd reports whether the value is there and not a string.
func (f scalar) odd() bool { return f.kind != 0 && f.kind != '"' }

// number reports whether the value is a JSON number without a sign.
func (f scalar) number() bool { return '0' <= f.kind && f.kind <= '9' }

// kinds are the types of JSON values by their first character. The others are numbers.
var kinds = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool", 'n': "null"}

// kindOf returns the type of a JSON value from its first character.
func kindOf(first byte) string { return cmp.Or(kinds[first], "number") }

// lenient returns a value, and warns if it is not a string.
func (o object) lenient(name string) scalar {
	f := o.field(name)
	if f.odd() {
		o.warn("%s is a JSON %s", name, kindOf(f.kind))
	}
	return f
}

// optional returns a text that may be missing.
func (o object) optional(name string) string { return o.lenient(name).text }

// expected returns a text, and warns if it is missing.
func (o object) expected(name string) string {
	f := o.lenient(name)
	if f.kind == 0 || f.kind == '"' && f.text == "" {
		o.warn("%s is missing", name)
	}
	return f.text
}

// required returns a text, and refuses the answer if it is missing. Lenient reading accepts another type.
func (o object) required(name string) string {
	f := o.field(name)
	switch {
	case f.kind == 0:
		o.refuse(page, "%s is missing", name)
	case f.odd():
		o.doubt(contradictory, "%s is a JSON %s", name, kindOf(f.kind))
	}
	return f.text
}

// ruc returns a RUC, which may be a number or have blanks around it.
func (o object) ruc() scalar {
	f := o.field("ruc")
	text := strings.TrimSpace(f.text)
	switch {
	case f.number():
		o.warn("ruc is a JSON number")
	case text != f.text:
		o.warn("ruc has blanks around it")
	}
	return scalar{text, f.kind}
}

// ubigeo returns a location code. As a number it may have lost its first zero.
func (o object) ubigeo() string {
	f := o.lenient("ubigeo")
	if f.number() && len(f.text) == 5 {
		return "0" + f.text
	}
	return f.text
}

// date returns an optional date: zero if missing, "" or "-".
func (o object) date(name string) Fecha {
	f := o.field(name)
	text := strings.TrimSpace(f.text)
	if text == "" && !f.odd() || text == "-" {
		return Fecha{}
	}
	fecha, err := ParseFecha(text)
	if err != nil {
		o.warn("%s is not a date: %s", name, o.quote(text))
		return Fecha{}
	}
	return fecha
}
