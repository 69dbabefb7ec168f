package fiscope

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/scrub"
)

// unreadable says why a body with status 200 is not JSON, and shows no data of it.
func unreadable(body []byte, secrets scrub.Secrets) string {
	if body[0] == '{' || body[0] == '[' {
		return json.Unmarshal(body, new(json.RawMessage)).Error()
	}
	return "the answer is not JSON: " + pageText(http.StatusOK, body, secrets)
}

// pageText returns what an error may show of a body without the members of an error: the title of a page,
// or its text, which usually names the culprit, without secrets. A status that is no error may come with a
// taxpayer's record nonetheless, behind a warning of PHP, in UTF-16, as XML or in a table: a text that may
// be one is withheld. An error's text is the service's own, unless it is a record beyond doubt.
func pageText(status int, body []byte, secrets scrub.Secrets) string {
	body = scrub.UTF8(body)
	shown, text := secrets.Page(body), scrub.PageText(body)
	isError := status >= 400 && status < 600
	withheld := mayBeRecord
	if isError {
		withheld = isRecord
	}
	// A secret may be a part of what gives a record away, or of a tag that hides it.
	if !isError && mayHoldRecord(string(body)) || withheld(scrub.Visible(text)) ||
		!strings.HasPrefix(text, shown) && withheld(scrub.Visible(scrub.Unmarked(shown))) {
		return recordNotShown
	}
	return shown
}

const recordNotShown = "its text may be a taxpayer's record, which is not shown"

var (
	// A record of the contract.
	record = regexp.MustCompile(`(?i)"ruc" ?:.*"razonSocial" ?:|"razonSocial" ?:.*"ruc" ?:`)
	// What stands before a taxpayer's name, in every format: razonSocial, razon_social, Razón Social.
	nameOfRecord = regexp.MustCompile(`(?is)raz[oó]\x{301}?n.{0,9}social|denominaci[oó]\x{301}?n`)
	// A RUC, also with blanks or dashes in it, but for that of an address, which the page of a firewall repeats.
	rucOfRecord = regexp.MustCompile(`(^|[^/\p{Nd}])(\p{Nd}[ -]?){10}\p{Nd}($|\P{Nd})`)
)

// A body may be long, and regular expressions are slow: each is asked only about what has the letters, or the
// digits, without which it does not match.

// isRecord reports whether a text, whose every character is visible, is a record of the contract.
func isRecord(text string) bool {
	return containsFold(text, `"ruc"`) && containsFold(text, `"razon`) && record.MatchString(text)
}

func hasNameOfRecord(text string) bool {
	return (containsFold(text, "raz") || containsFold(text, "denominaci")) && nameOfRecord.MatchString(text)
}

// hasRUCOfRecord asks about the runs of digits that are long enough, each with the characters around it.
func hasRUCOfRecord(text string) bool {
	before, digits := 0, 0 // where the character before a run began, and how many digits the run has
	for i, r := range text {
		switch {
		case r == ' ' || r == '-':
		case r >= '0' && r <= '9', r >= utf8.RuneSelf && unicode.IsDigit(r):
			digits++
		default:
			if digits >= 11 && rucOfRecord.MatchString(text[before:min(len(text), i+utf8.UTFMax)]) {
				return true
			}
			before, digits = i, 0
		}
	}
	return digits >= 11 && rucOfRecord.MatchString(text[before:])
}

// containsFold is strings.Contains of a text in small ASCII letters, in any case.
func containsFold(text, small string) bool {
	for i := range len(text) - len(small) + 1 {
		if text[i]|0x20 == small[0]|0x20 && strings.EqualFold(text[i:i+len(small)], small) {
			return true
		}
	}
	return false
}

// mayHoldRecord reports whether a body has anything of a record that its text need not show.
func mayHoldRecord(body string) bool {
	body = html.UnescapeString(body)
	return strings.ContainsFunc(body, binary) || hasNameOfRecord(body) || hasRUCOfRecord(body)
}

// mayBeRecord reports whether a text that would be shown has anything of a record.
func mayBeRecord(text string) bool {
	text = html.UnescapeString(text)
	tooLong := func(word string) bool { return len(word) > longestWord }
	return hasNameOfRecord(text) || strings.ContainsAny(text, `{}[]"`) || hasRUCOfRecord(text) ||
		slices.ContainsFunc(strings.Fields(text), tooLong)
}

// A word with more bytes is something else in an encoding, such as base64.
const longestWord = 64

// binary reports whether a character stands in no text: among them is the NUL that UTF-16 and UTF-32 are
// full of.
func binary(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r", r) || r == 0x7F }
