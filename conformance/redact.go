package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// secrets finds the key and the clave in text that is to be shown, also where a server repeats them escaped.
type secrets []*regexp.Regexp

const hidden = "***"

// shortest is how many characters a secret has that is found by more than chance. Of a shorter one the words around
// it would tell what it is.
const shortest = 6

func newSecrets(texts ...string) (all secrets) {
	for _, text := range texts {
		switch form := anyForm(text); {
		case text == "":
		case utf8.RuneCountInString(text) < shortest:
			all = append(all, regexp.MustCompile(`(?is).*`+form+`.*`))
		default:
			all = append(all, regexp.MustCompile(`(?i)`+form))
		}
	}
	return all
}

// entities are the names that HTML has for characters which it escapes.
var entities = map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot", '\'': "apos"}

// anyForm is a pattern of a text in which each character stands as itself or as the escape of it that a URL, JSON,
// Go or HTML has, and escaped again: %2541 is an A too.
func anyForm(text string) string {
	var pattern strings.Builder
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
		pattern.WriteString("(?:" + strings.Join(forms, "|") + ")")
	}
	return pattern.String()
}

// hide takes the secrets out of a text.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		text = secret.ReplaceAllLiteralString(text, hidden)
	}
	return text
}

// mostShown is how many characters of what a server sent a text shows, and mostSearched in how many bytes of it
// secrets are looked for.
const mostShown, mostSearched = 200, 1024

// abridged is what came from a server, as a text may show it: without secrets, in one line, and not all of it.
func (s secrets) abridged(came string) string {
	whole := len(came) <= mostSearched
	if !whole {
		came = came[:mostSearched]
	}
	shown := []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s.hide(came)))
	switch {
	case len(shown) > mostShown: // cut after the secrets are out: a part of one would not be found
		return string(shown[:mostShown]) + "…"
	case !whole: // almost all of it was secrets, and the last may be cut
		return hidden + "…"
	}
	return string(shown)
}
