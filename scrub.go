package fiscope

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestMessage = 300  // runes of the server's text in an error
	longestBody    = 4096 // bytes of Error.Body
	withheld       = "[text withheld: it repeats a credential]"
)

// scrubber takes the secrets of a call out of what the server sent before it reaches an error, a
// warning or a header that the caller sees. A server that echoes a request is common; a log that then
// holds a password is for good.
type scrubber struct{ secrets []Secreto }

// secrets removes every form in which an echo can carry a secret: plain, JSON-escaped, URL-escaped,
// HTML-escaped, in any case. A secret so short that it occurs by chance withholds the whole text.
func (s scrubber) redact(text string) string {
	for _, secret := range s.secrets {
		plain := secret.text()
		if plain == "" {
			continue
		}
		forms := []string{plain, visible(plain), url.QueryEscape(plain), url.PathEscape(plain), html.EscapeString(plain)}
		for _, escape := range []func(string) []byte{jsonEscaped, jsonEscapedASCII} {
			forms = append(forms, string(escape(plain)))
		}
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
			text = found.ReplaceAllLiteralString(text, marcaSecreto)
		}
	}
	return text
}

// line returns the server's text as one line that is safe to log: without secrets, control characters
// and the characters that turn the direction of writing, RUCs abridged, at most 300 runes.
func (s scrubber) line(text string) string {
	text = s.redact(strings.ToValidUTF8(text, "\uFFFD"))
	text = s.redact(visible(text)) // once more: what stood between the letters of a secret is gone now
	return cut(abridgeRUCs(text), longestMessage)
}

// body returns what the caller may see of an answer. Where the answer was cut, a secret may have been
// cut with it: its beginning at the end of what was read goes too.
func (s scrubber) body(body []byte, truncated bool) []byte {
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	if truncated {
		for _, secret := range s.secrets {
			text = text[:max(0, len(text)-6*len(secret.text()))] // 6: a character as \u00xx
		}
	}
	text = s.redact(text)
	if len(text) > longestBody {
		text = strings.ToValidUTF8(text[:longestBody], "")
	}
	return []byte(text)
}

// visible joins the words of a text with single spaces and leaves out what does not show: controls,
// and the format characters (among them the bidirectional ones) with which a text can hide another.
func visible(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, text)), " ")
}

var (
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	htmlSkip  = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)
)

// pageText returns what a person would read of a body that is not JSON: an HTML page's title, or its
// text without tags.
func pageText(body string) string {
	body = cut(body, 16*longestMessage)
	if title := htmlTitle.FindStringSubmatch(body); title != nil && visible(title[1]) != "" {
		return html.UnescapeString(title[1])
	}
	if strings.HasPrefix(strings.TrimSpace(body), "<") {
		return html.UnescapeString(htmlSkip.ReplaceAllString(body, " "))
	}
	return body
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
