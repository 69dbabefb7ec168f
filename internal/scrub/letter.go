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

var asciiLetters = func() (letters [utf8.RuneSelf]letter) {
	for r := range rune(utf8.RuneSelf) {
		letters[r] = newLetter(r)
	}
	return letters
}()

func letterOf(r rune) letter {
	if r >= 0 && r < utf8.RuneSelf {
		return asciiLetters[r]
	}
	return newLetter(r)
}

func newLetter(r rune) letter {
	if r >= 0xC0 && r < 0x180 { // the letters of Spanish, before the tables of Unicode are asked
		return letter{fold(r), false}
	}
	switch {
	case unicode.IsSpace(r): // a line break inside a secret may also be the server's, which wraps its lines
		return letter{' ', unicode.IsControl(r)}
	case r == '\\', r == utf8.RuneError, hidden(r), unicode.In(r, unicode.Mn, unicode.Me):
		return letter{r, true}
	}
	return letter{fold(r), false}
}

// fold returns a letter in small and without its accent.
func fold(r rune) rune {
	r = unicode.ToLower(unicode.ToUpper(r))
	if r >= firstAccented && int(r-firstAccented) < len(withoutAccent) {
		return withoutAccent[r-firstAccented]
	}
	return r
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
