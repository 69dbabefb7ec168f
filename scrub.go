package fiscope

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestMessage  = 300      // runes of the server's text in an error
	longestBody     = 4096     // bytes of Error.Body
	longestSearched = 64 << 10 // bytes
	withheld        = "[text withheld: it repeats a credential]"
)

// scrubber takes the secrets of a call out of what the server sent before it reaches an error, a
// warning or a header that the caller sees. A server that echoes a request is common; a log that then
// holds a password is for good.
type scrubber struct{ secrets []Secreto }

// redact removes every form in which an echo can carry a secret: plain, JSON-escaped, URL-escaped,
// HTML-escaped, quoted by Go, in any case. A secret so short that it occurs by chance withholds the whole text.
func (s scrubber) redact(text string) string {
	for _, secret := range s.secrets {
		plain := secret.text()
		if plain == "" {
			continue
		}
		forms := []string{plain, visible(plain), url.QueryEscape(plain), url.PathEscape(plain), html.EscapeString(plain)}
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
			text = found.ReplaceAllLiteralString(text, marcaSecreto)
		}
	}
	return text
}

// line returns the server's text as one line that is safe to log: without secrets, control characters
// and the characters that turn the direction of writing, RUCs abridged, at most 300 runes.
func (s scrubber) line(text string) string {
	text = s.redact(strings.ToValidUTF8(s.head(text), "\uFFFD"))
	text = s.redact(visible(text)) // once more: what stood between the letters of a secret is gone now
	return cut(abridgeRUCs(text), longestMessage)
}

// body returns what the caller may see of an answer.
func (s scrubber) body(body []byte) []byte {
	text := s.redact(strings.ToValidUTF8(s.head(string(body)), "\uFFFD"))
	if len(text) > longestBody {
		text = strings.ToValidUTF8(text[:longestBody], "")
	}
	return []byte(text)
}

// head returns as much of a text as is worth a search for secrets.
func (s scrubber) head(text string) string {
	if len(text) <= longestSearched {
		return text
	}
	return s.withoutTail(text[:longestSearched])
}

// withoutTail drops the end of a text that was cut, where a secret may have been cut with it.
func (s scrubber) withoutTail(text string) string {
	longest := 0
	for _, secret := range s.secrets {
		longest = max(longest, 6*len(secret.text())) // 6: a character as \u00xx
	}
	return text[:max(0, len(text)-longest)]
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

// pageText returns what a person would read of a body that is not JSON: an HTML page's title, or its
// text without tags. It reads the body once, whatever is in it: no regular expression.
func pageText(body string) string {
	if !strings.HasPrefix(strings.TrimSpace(body), "<") {
		return body
	}
	if _, title, ok := cutFold(body, "<title"); ok {
		if _, title, ok = strings.Cut(title, ">"); ok {
			if title, _, ok = cutFold(title, "</title"); ok && visible(title) != "" {
				return html.UnescapeString(title)
			}
		}
	}
	var text strings.Builder
	for {
		before, tag, ok := strings.Cut(body, "<")
		text.WriteString(before + " ")
		if !ok {
			return html.UnescapeString(text.String())
		}
		for _, hidden := range []string{"script", "style"} {
			if len(tag) >= len(hidden) && strings.EqualFold(tag[:len(hidden)], hidden) {
				_, tag, _ = cutFold(tag, "</"+hidden)
			}
		}
		_, body, _ = strings.Cut(tag, ">")
	}
}

// cutFold is strings.Cut for a separator in ASCII, in any case.
func cutFold(s, separator string) (before, after string, found bool) {
	for i := 0; i+len(separator) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(separator)], separator) {
			return s[:i], s[i+len(separator):], true
		}
	}
	return s, "", false
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
