// Package errorbody reads an error body, in the forms that services use.
package errorbody

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"strings"

	"github.com/fiscope/fiscope/internal/jsonobject"
)

// Body is the content of an error body (docs/contract.md, 2.6).
type Body struct {
	Code, Text string
	IsError    bool // even with status 200: it has a known code, or an error
}

// Says reports whether the body has a code or a text.
func (b Body) Says() bool { return b.Code != "" || b.Text != "" }

// Read reads a body as an error. It ignores members of an unexpected shape. known reports a code of the contract, which
// is found in any case and with blanks for underscores.
func Read(body []byte, known func(code string) bool) Body {
	if !json.Valid(body) {
		return Body{}
	}
	o := jsonobject.Of(string(body))
	said := o.Get("error")
	inner := jsonobject.Of(said) // error: {code, message}
	b := Body{Code: codeOf(o, known), Text: cmp.Or(textOf(inner), textOf(o))}
	if !known(b.Code) {
		b.Code = cmp.Or(codeOf(inner, known), b.Code)
	}
	var several []json.RawMessage
	if list := o.Get("errors"); list != "" {
		_ = json.Unmarshal([]byte(list), &several)
	}
	for _, e := range several {
		b.Text = cmp.Or(b.Text, textOf(jsonobject.Of(string(e))))
	}
	switch said {
	case "", "null", "false", "0", `""`, "{}", "[]":
		b.IsError = known(b.Code) || len(several) > 0
	default:
		b.IsError = true
	}
	return b
}

// textOf returns the message of an object, under any of the names that services use.
func textOf(o jsonobject.Object) (text string) {
	for _, name := range []string{"error", "message", "msg", "detail"} {
		if said := o.Get(name); name != "error" || strings.HasPrefix(said, `"`) {
			text = cmp.Or(text, jsonobject.Text(said))
		}
	}
	return text
}

func codeOf(o jsonobject.Object, known func(string) bool) string {
	code := strings.TrimSpace(jsonobject.Text(o.Get("code")))
	if plain := strings.ToUpper(strings.ReplaceAll(code, " ", "_")); known(plain) {
		return plain
	}
	return code
}

// title matches the title of a page.
var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// longestPage is how much of a page is searched for its title.
const longestPage = 4096

// Page returns the title of a page, or a body of plain text. It never cuts them: part of a secret would show.
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
