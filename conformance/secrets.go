package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// secrets are the letters and digits of the key and the claves, in each encoding that a server may use. A text with one
// of them is not shown at all.
type secrets []string

const hidden = "***"

func newSecrets(texts ...string) (s secrets) {
	for _, text := range slices.DeleteFunc(texts, func(text string) bool { return text == "" }) {
		inJSON, _ := json.Marshal(text)
		ways := []string{text, url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text), fmt.Sprintf("%+q", text), string(inJSON), hex.EncodeToString([]byte(text))}
		for before := range 3 { // bytes before the text change its base64 form
			encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + text))
			ways = append(ways, encoded[(before*8+5)/6:(before+len(text))*8/6])
		}
		for _, way := range ways {
			if letters := folded(way); letters != "" {
				s = append(s, letters)
			}
		}
	}
	return s
}

// folded returns the letters and digits of a text, in lower case, without the prefixes of escapes.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.NewReplacer("0x", "", `\u00`, "", `\x`, "", "#x", "").Replace(text))
}

// hide returns the text, or only hidden if it contains a secret.
func (s secrets) hide(text string) string {
	letters := folded(text)
	for _, secret := range s {
		if strings.Contains(letters, secret) {
			return hidden
		}
	}
	return text
}

// mostShown is how many characters of a server's text are shown.
const mostShown = 200

// abridged returns a server's text as it may be shown: without secrets, in one line, and cut.
func (s secrets) abridged(came string) string {
	text := []rune(s.hide(came))
	if len(text) > mostShown {
		text = append(text[:mostShown], '…')
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, string(text))
}
