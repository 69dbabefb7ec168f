package fiscope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/internal/scrub"
)

// unreadable says why a body with status 200 is not the JSON of the contract, and shows no data of it.
func unreadable(err error, body []byte) string {
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) {
		member := cmp.Or(shape.Field, "the answer")
		return fmt.Sprintf("%s is a JSON %s", member, shape.Value)
	}
	if first := bytes.TrimSpace(body)[0]; first == '{' || first == '[' {
		return strings.TrimPrefix(err.Error(), "fiscope: ")
	}
	return "the answer is not JSON: " + pageText(http.StatusOK, body)
}

// pageText returns what an error may show of a body without the members of an error: the title of a page,
// or its text, which usually names the culprit. A status that is no error may come with a taxpayer's record
// nonetheless, behind a warning of PHP, in UTF-16, as XML or in a table: a text that may be one is
// withheld. An error's text is the service's own, unless it is a record beyond doubt.
func pageText(status int, body []byte) string {
	body = scrub.UTF8(body)
	text := scrub.PageText(string(body))
	isError := status >= 400 && status < 600
	if seen := scrub.Visible(text); isError && record.MatchString(seen) || !isError && mayBeRecord(string(body), seen) {
		return "its text may be a taxpayer's record, which is not shown"
	}
	return text
}

var (
	// A record of the contract.
	record = regexp.MustCompile(`(?i)"ruc" ?:.*"razonSocial" ?:|"razonSocial" ?:.*"ruc" ?:`)
	// What stands before a taxpayer's name, in every format: razonSocial, razon_social, Razón Social.
	nameOfRecord = regexp.MustCompile(`(?i)raz[oó]n.{0,3}social`)
	// A RUC, but for that of an address, which the page of a firewall repeats.
	rucOfRecord = regexp.MustCompile(`(^|[^/\w])[0-9]{11}\b`)
)

// mayBeRecord reports whether a body, or the text of it that would be shown, has anything of a record.
func mayBeRecord(body, text string) bool {
	body, text = html.UnescapeString(body), html.UnescapeString(text)
	tooLong := func(word string) bool { return len(word) > longestWord }
	return strings.ContainsFunc(body, binary) || nameOfRecord.MatchString(body) || nameOfRecord.MatchString(text) ||
		strings.ContainsAny(text, `{}[]"`) || rucOfRecord.MatchString(text) || slices.ContainsFunc(strings.Fields(text), tooLong)
}

// A word with more bytes is something else in an encoding, such as base64.
const longestWord = 64

// binary reports whether a character stands in no text: among them is the NUL that UTF-16 and UTF-32 are
// full of.
func binary(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r", r) || r == 0x7F }
