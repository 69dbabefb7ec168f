package fiscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/members"
	"github.com/fiscope/fiscope/internal/scrub"
)

// object reads the members of a JSON object of an answer. The first that is missing or of another type than
// the contract's is its error; null counts as missing.
type object struct {
	members.Object
	answer *answer
	said   *Error // what its code alone means, which a good answer may have too: "OK", 200; nil where it has none
	err    *Error
}

// object returns the answer's object, of which these members are read. An error body inside a 200 is its
// code's error.
func (a *answer) object(names members.Names) (object, error) {
	text, err := a.json('{')
	if err != nil {
		return object{}, err
	}
	o := a.objectIn(text, names)
	if said, ok := errorBodyOf(&o.Object); ok {
		whole, _ := readErrorBody(text)
		o.said = a.errorInside(whole)
		if _, ofContract := contractCode(said.Code); ofContract || said.Error != "" {
			return object{}, o.said
		}
	}
	return o, nil
}

// objectIn returns the object in a text that is one, and notes what in it comes twice.
func (a *answer) objectIn(text []byte, names members.Names) object {
	o := object{Object: names.Read(text), answer: a}
	switch {
	case o.Differs:
		a.contradicts("%s comes twice, and not the same", o.Repeated)
	case o.Repeated != "":
		a.warn("%s comes twice", o.Repeated)
	}
	return o
}

// json returns the body as UTF-8, which is JSON of the kind that begins so: { or [.
func (a *answer) json(begin byte) ([]byte, error) {
	text := bytes.TrimSpace(scrub.UTF8(a.Body))
	if !utf8.Valid(a.Body) {
		a.warn("the answer is not valid UTF-8: the invalid bytes were read as Windows-1252")
	}
	switch {
	case len(text) == 0:
		return nil, notContract("the answer is empty")
	case !json.Valid(text):
		return nil, notContract("%s", unreadable(text, a.reading.secrets()))
	}
	switch {
	case text[0] == begin:
		return text, nil
	case string(text) == "null":
		return nil, notContract("the answer is null")
	}
	if said, ok := readErrorBody(text); ok {
		return nil, a.errorInside(said)
	}
	return nil, notContract("the answer is a JSON %s", kindOf(text))
}

// kindOf returns what a JSON value is.
func kindOf(raw []byte) string {
	switch raw[0] {
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

// value returns a member's value, and nil where it is missing.
func (o *object) value(name string) []byte {
	if raw := o.Get(name); string(raw) != "null" {
		return raw
	}
	return nil
}

// fail notes why the object is not the contract's.
func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = cmp.Or(o.said, notContract(format, args...))
	}
}

// optional returns a text that may be missing, and is "" then.
func (o *object) optional(name string) string {
	raw := o.value(name)
	if raw == nil {
		return ""
	}
	if raw[0] != '"' {
		o.fail("%s is a JSON %s", name, kindOf(raw))
		return ""
	}
	return textIn(raw)
}

// required returns a text that must be there. It may be empty.
func (o *object) required(name string) string {
	if o.value(name) == nil {
		o.fail("%s is missing", name)
	}
	return o.optional(name)
}

// flag returns a truth that must be there.
func (o *object) flag(name string) bool {
	raw := o.value(name)
	switch {
	case raw == nil:
		o.fail("%s is missing", name)
	case kindOf(raw) != "bool":
		o.fail("%s is a JSON %s", name, kindOf(raw))
	}
	return string(raw) == "true"
}

// date returns a date, which is zero where it is missing, "" or "-". One that cannot be read fails nothing,
// since a record is worth more than a date that the contract does not promise: unreadable then holds its
// text.
func (o *object) date(name string) (f Fecha, unreadable string) {
	raw := o.value(name)
	if raw == nil {
		return f, ""
	}
	if raw[0] == '"' {
		if date, ok := dateOf(raw[1 : len(raw)-1]); ok && date.Valid() { // as it should be: it needs no text
			return date, ""
		}
	}
	text := string(raw)
	if raw[0] == '"' {
		text = textIn(raw)
	}
	if text = strings.TrimSpace(text); text == "" || text == "-" {
		return f, ""
	}
	f, err := ParseFecha(text)
	if err != nil {
		return Fecha{}, text
	}
	return f, ""
}

// optionalDate returns a date, of which one that cannot be read is only warned of.
func (o *object) optionalDate(name string) Fecha {
	f, unreadable := o.date(name)
	if unreadable != "" {
		o.answer.warn("%s is not a date: %s", name, o.answer.quote(unreadable))
	}
	return f
}
