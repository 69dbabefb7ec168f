// Package scrub makes what a server sent safe to show.
package scrub

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marker stands where a secret stood.
const Marker = "[secreto]"

const (
	longestMessage  = 300      // runes of the server's text in an error
	longestBody     = 4096     // bytes of Error.Body
	longestSearched = 64 << 10 // bytes
	withheld        = "[text withheld: it repeats a credential]"
)

// Secrets takes the secrets of a call out of what the server sent before it reaches an error, a
// warning or a header that the caller sees. A server that echoes a request is common; a log that then
// holds a password is for good.
type Secrets []string

// Redact removes every form in which an echo can carry a secret: plain, JSON-escaped, URL-escaped,
// HTML-escaped, quoted by Go, in any case. A secret so short that it occurs by chance withholds the whole text.
func (s Secrets) Redact(text string) string {
	for _, plain := range s {
		if plain == "" {
			continue
		}
		forms := []string{plain, Visible(plain), url.QueryEscape(plain), url.PathEscape(plain), html.EscapeString(plain)}
		forms = append(forms, string(jsonEscaped(plain)), string(jsonEscapedASCII(plain)), unquoted(plain))
		for _, form := range forms {
			if form == "" {
				continue
			}
			found := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(strings.ToValidUTF8(form, "\uFFFD")))
			if !found.MatchString(text) {
				continue
			}
			if utf8.RuneCountInString(plain) < 4 {
				return withheld
			}
			text = found.ReplaceAllLiteralString(text, Marker)
		}
	}
	return text
}

// Line returns the server's text as one line that is safe to log: without secrets, control characters
// and the characters that turn the direction of writing, RUCs abridged, at most 300 runes.
func (s Secrets) Line(text string) string {
	text = s.Redact(strings.ToValidUTF8(s.head(text), "\uFFFD"))
	text = s.Redact(Visible(text)) // once more: what stood between the letters of a secret is gone now
	return Cut(AbridgeRUCs(text), longestMessage)
}

// Body returns what the caller may see of an answer.
func (s Secrets) Body(body []byte) []byte {
	text := s.Redact(strings.ToValidUTF8(s.head(string(body)), "\uFFFD"))
	if len(text) > longestBody {
		text = strings.ToValidUTF8(text[:longestBody], "")
	}
	return []byte(text)
}

// head returns as much of a text as is worth a search for secrets.
func (s Secrets) head(text string) string {
	if len(text) <= longestSearched {
		return text
	}
	return s.WithoutTail(text[:longestSearched])
}

// WithoutTail drops the end of a text that was Cut, where a secret may have been cut with it.
func (s Secrets) WithoutTail(text string) string {
	longest := 0
	for _, secret := range s {
		longest = max(longest, 6*len(secret)) // 6: a character as \u00xx
	}
	return text[:max(0, len(text)-longest)]
}

// unquoted returns s as %q writes it, without its quotes.
func unquoted(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// jsonEscaped returns s as it stands inside a JSON string.
func jsonEscaped(s string) []byte {
	quoted, _ := json.Marshal(s)
	return quoted[1 : len(quoted)-1]
}

// jsonEscapedASCII returns s as encoders write it that escape everything outside ASCII.
func jsonEscapedASCII(s string) []byte {
	var b strings.Builder
	for _, r := range string(jsonEscaped(s)) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			b.WriteString(`\u` + hex4(hi) + `\u` + hex4(lo))
		default:
			b.WriteString(`\u` + hex4(r))
		}
	}
	return []byte(b.String())
}

func hex4(r rune) string {
	const hexDigits = "0123456789abcdef"
	return string([]byte{hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15]})
}

// Header returns a copy without the secrets that the server echoed.
func (s Secrets) Header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			clean.Add(s.Redact(name), s.Redact(value))
		}
	}
	return clean
}
