package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// secrets finds the key and the clave in text that is to be shown, also where a server repeats them in another form.
// The zero value finds nothing.
type secrets struct {
	forms *regexp.Regexp
	reach int // bytes that a form of the longest one may take
}

const hidden = "***"

// shortest is how many characters a secret has that is found by more than chance. Of a shorter one the words around
// it would tell what it is.
const shortest = 6

// mostOfAByte is how many bytes a form may have for a byte of a secret, as &amp;#x000041; has them.
const mostOfAByte = 16

func newSecrets(texts ...string) (s secrets) {
	var forms []string
	for _, text := range texts {
		switch {
		case text == "":
			continue
		case utf8.RuneCountInString(text) < shortest:
			forms = append(forms, `(?is:.*`+spelt(text)+`.*)`)
		default:
			forms = append(forms, `(?i:`+spelt(text)+`|`+hexForms(text)+`|`+base64Forms(text)+`)`)
		}
		s.reach = max(s.reach, mostOfAByte*len(text))
	}
	if len(forms) > 0 {
		s.forms = regexp.MustCompile(strings.Join(forms, "|"))
	}
	return s
}

// apart is what may stand between the characters of a secret that is spelt out, ["c","l","a"] or c-l-a, and before
// one that JSON or Go quotes.
const apart = `[^0-9A-Za-z]*`

// spelt is a pattern of a text as it is, or spelt out. A blank may be a plus sign, as in a query.
func spelt(text string) string {
	var characters []string
	for _, r := range text {
		if r == ' ' {
			characters = append(characters, `[ +]`)
		} else {
			characters = append(characters, regexp.QuoteMeta(string(r)))
		}
	}
	return strings.Join(characters, apart)
}

// hexForms is a pattern of the bytes of a text in hexadecimal digits: 636c61, 63:6c:61 or 0x63, 0x6c, 0x61.
func hexForms(text string) string {
	var bytes []string
	for _, b := range []byte(text) {
		bytes = append(bytes, fmt.Sprintf("%02x", b))
	}
	return strings.Join(bytes, apart+`(?:0x)?`)
}

// base64Forms is a pattern of a text in base64, within other text too: there are three ways to come upon it, by how
// many bytes stand before. The characters that it shares with its neighbours are left out.
func base64Forms(text string) string {
	var forms []string
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + text))
		first, end := (before*8+5)/6, (before+len(text))*8/6
		forms = append(forms, strings.NewReplacer("+", `[+-]`, "/", `(?:\\*/|_)`).Replace(encoded[first:end]))
	}
	return strings.Join(forms, "|")
}

// escapes are those of URLs, JSON and Go.
var escapes = regexp.MustCompile(`(?i)(?:%[0-9a-f]{2})+|(?:\\+x[0-9a-f]{2})+|(?:\\+u[0-9a-f]{4})+`)

// decoded is a text without one layer of escapes, of HTML too. It is no longer than the text.
func decoded(text string) string {
	return escapes.ReplaceAllStringFunc(html.UnescapeString(text), func(escape string) string {
		digits, _ := hex.DecodeString(strings.NewReplacer(`%`, "", `\`, "", "x", "", "X", "", "u", "", "U", "").Replace(escape))
		if !strings.ContainsAny(escape, "uU") {
			return string(digits)
		}
		var units []uint16
		for i := 0; i+1 < len(digits); i += 2 {
			units = append(units, uint16(digits[i])<<8|uint16(digits[i+1]))
		}
		return string(utf16.Decode(units))
	})
}

// escaped reports whether a secret stands in a text behind escapes, of however many layers.
func (s secrets) escaped(text string) bool {
	if s.forms == nil {
		return false
	}
	text = s.forms.ReplaceAllLiteralString(text, hidden)
	for {
		plain := decoded(text)
		if plain == text {
			return false
		}
		if s.forms.MatchString(plain) {
			return true
		}
		text = plain
	}
}

// hide takes the secrets out of a text; where one is escaped, nothing is left of it.
func (s secrets) hide(text string) string {
	switch {
	case s.forms == nil:
		return text
	case s.escaped(text):
		return hidden
	}
	return s.forms.ReplaceAllLiteralString(text, hidden)
}

// mostShown is how many characters of what a server sent a text shows.
const mostShown = 200

// abridged is what came from a server, as a text may show it: without secrets, in one line, and not all of it. What
// is shown ends by what came and not by what is left of it, so that secrets are looked for as far as one can reach.
func (s secrets) abridged(came string) string {
	end, left := 0, mostShown
	for ; end < len(came) && left > 0; left-- {
		_, size := utf8.DecodeRuneInString(came[end:])
		end += size
	}
	searched := came[:min(len(came), end+s.reach)]
	if s.escaped(searched) {
		return hidden
	}
	var text strings.Builder
	shown := 0
	if s.forms != nil {
		for _, at := range s.forms.FindAllStringIndex(searched, -1) {
			if at[0] >= end {
				break
			}
			text.WriteString(came[shown:at[0]] + hidden)
			shown = at[1]
		}
	}
	if shown < end {
		text.WriteString(came[shown:end])
		shown = end
	}
	if shown < len(came) {
		text.WriteString("…")
	}
	return strings.Map(inOneLine, text.String())
}

// inOneLine keeps what a server sent from writing lines and control characters on a terminal.
func inOneLine(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r):
		return unicode.ReplacementChar
	}
	return r
}
