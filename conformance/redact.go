package conformance

import (
	"encoding/base64"
	"fmt"
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
			forms = append(forms, `(?is:.*`+escapedForms(text)+`.*)`)
		default:
			forms = append(forms, `(?i:`+escapedForms(text)+`|`+hexForms(text)+`|`+base64Forms(text)+`)`)
		}
		s.reach = max(s.reach, mostOfAByte*len(text))
	}
	if len(forms) > 0 {
		s.forms = regexp.MustCompile(strings.Join(forms, "|"))
	}
	return s
}

// entities are the names that HTML has for characters which it escapes.
var entities = map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot", '\'': "apos"}

// apart is what may stand between the characters of a secret that is spelt out: ["c","l","a"] or c-l-a.
const apart = `[^\pL\pN]*`

// escapedForms is a pattern of a text in which each character stands as itself or as the escape of it that a URL,
// JSON, Go or HTML has, and escaped again: %2541 is an A too.
func escapedForms(text string) string {
	var characters []string
	for _, r := range text {
		forms := []string{
			`\\*` + regexp.QuoteMeta(string(r)),
			fmt.Sprintf(`\\+u(?:00)?%04x`, r), fmt.Sprintf(`\\+u\{0*%x\}`, r), fmt.Sprintf(`\\+x%02x`, r),
			fmt.Sprintf(`&(?:amp;)*#0*%d;?`, r), fmt.Sprintf(`&(?:amp;)*#x0*%x;?`, r),
		}
		encoded := ""
		for _, b := range []byte(string(r)) {
			encoded += fmt.Sprintf(`%%(?:25)*%02x`, b)
		}
		if forms = append(forms, encoded); r == ' ' {
			forms = append(forms, `\+`, `%(?:25)*2b`)
		}
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			forms = append(forms, fmt.Sprintf(`\\+u%04x\\+u%04x`, high, low), fmt.Sprintf(`\\+u%08x`, r))
		}
		if name := entities[r]; name != "" {
			forms = append(forms, `&(?:amp;)*`+name+`;?`)
		}
		characters = append(characters, "(?:"+strings.Join(forms, "|")+")")
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

// hide takes the secrets out of a text.
func (s secrets) hide(text string) string {
	if s.forms == nil {
		return text
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
	var text strings.Builder
	shown := 0
	if s.forms != nil {
		for _, at := range s.forms.FindAllStringIndex(came[:min(len(came), end+s.reach)], -1) {
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
