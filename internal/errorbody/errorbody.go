// Package errorbody reads what a service says of an error, in the forms that services have for it.
package errorbody

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

// Body is what an error body says (docs/contract.md, 2.6).
type Body struct {
	Code, Text string
	IsError    bool // also with status 200: it has a known code, or an error
}

// Says reports whether the body is a JSON object that says anything.
func (b Body) Says() bool { return b.Code != "" || b.Text != "" }

// Read returns what a body says as an error. A member of another shape says nothing, the others do. known are the codes
// of the contract, which are found in any case and with blanks for underscores.
func Read(body []byte, known func(code string) bool) Body {
	var o, inner object
	_ = json.Unmarshal(body, &o)
	kind := byte(0)
	if len(o.Error) > 0 {
		kind = o.Error[0]
	}
	if kind == '{' {
		_ = json.Unmarshal(o.Error, &inner) // error: {code, message}
	}
	b := Body{Code: o.code(known), Text: cmp.Or(inner.text(), o.text())}
	if !known(b.Code) {
		b.Code = cmp.Or(inner.code(known), b.Code)
	}
	for _, e := range o.Errors {
		b.Text = cmp.Or(b.Text, e.text())
	}
	switch string(o.Error) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		b.IsError = known(b.Code) || len(o.Errors) > 0
	default:
		b.IsError = true
	}
	return b
}

// object has the members under which services say what went wrong.
type object struct {
	Error                      json.RawMessage
	Code, Message, Msg, Detail scalar
	Errors                     []object
}

func (o *object) text() string {
	var text scalar
	if len(o.Error) > 0 && o.Error[0] == '"' {
		_ = text.UnmarshalJSON(o.Error)
	}
	return string(cmp.Or(text, o.Message, o.Msg, o.Detail))
}

func (o *object) code(known func(string) bool) string {
	code := strings.TrimSpace(string(o.Code))
	if plain := strings.ToUpper(strings.Join(strings.Fields(code), "_")); known(plain) {
		return plain
	}
	return code
}

// scalar is the text of a JSON scalar, and "" for anything else.
type scalar string

// UnmarshalJSON never fails.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, (*string)(s))
	case 'n', '{', '[':
	default:
		*s = scalar(raw)
	}
	return nil
}

// title finds that of a page.
var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// longestPage is how much of a page is searched for its title.
const longestPage = 4096

// Page returns the title of a page, or a body of plain text. Nothing of it is cut: a part of a secret shows.
func Page(body []byte) string {
	start := bytes.TrimSpace(body[:min(len(body), longestPage)])
	switch {
	case len(start) == 0, strings.IndexByte(`{["`, start[0]) >= 0:
		return ""
	case start[0] == '<':
		if found := title.FindSubmatch(start); found != nil {
			return html.UnescapeString(string(found[1]))
		}
		return ""
	case len(body) > longestPage:
		return ""
	}
	return string(start)
}
