package scrub

import (
	"unicode"
	"unicode/utf8"
)

// letter is how a character takes part in the search for a secret. Case and accents do not count, so that
// a text is found in capitals, decomposed (n and U+0303 for ñ) and without its accents.
type letter struct {
	folded rune
	silent bool // it can stand between the letters of a secret without being part of it
}

// letters are those of the first characters, the letters of Spanish among them.
var letters = func() (letters [firstAccented + 160]letter) {
	for r := range rune(len(letters)) {
		letters[r] = newLetter(r)
	}
	return letters
}()

func letterOf(r rune) letter {
	if r >= 0 && int(r) < len(letters) {
		return letters[r]
	}
	return newLetter(r)
}

func newLetter(r rune) letter {
	switch {
	case r >= '\u2010' && r <= '\u2027': // dashes, quotes and the ellipsis, of which pages are full
		return letter{r, false}
	case unicode.IsSpace(r): // a line break inside a secret may also be the server's, which wraps its lines
		return letter{' ', unicode.IsControl(r)}
	case r == '\\', r == utf8.RuneError, hidden(r), unicode.In(r, unicode.Mn, unicode.Me):
		return letter{r, true}
	}
	r = unicode.ToLower(unicode.ToUpper(r))
	if r >= firstAccented && int(r-firstAccented) < len(withoutAccent) {
		r = withoutAccent[r-firstAccented]
	}
	return letter{r, false}
}

// hidden reports whether a character does not show: controls, format characters (among them the
// bidirectional ones) and those of private use.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co)
}

const firstAccented = 0xE0

// withoutAccent holds the small letters from U+00E0 to U+017F without their accents, sixteen in a piece.
var withoutAccent = []rune("aaaaaaæceeeeiiii" + "ðnooooo÷øuuuuyþy" +
	"aaaaaaccccccccdd" + "đđeeeeeeeeeegggg" + "gggghhħħiiiiiiii" + "iiĳĳjjkkĸllllllŀ" +
	"ŀłłnnnnnnŉŋŋoooo" + "ooœœrrrrrrssssss" + "ssttttŧŧuuuuuuuu" + "uuuuwwyyyzzzzzzs")
