package relevance

import (
	"strings"
	"unicode"
)

// Fold prepares a text for comparing: lower case, without accents (Ñ is N, as many registries write it),
// composed or not, with single spaces.
func Fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, word := range strings.Fields(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range word {
			if !unicode.Is(unicode.Mn, r) { // the combining accent of a decomposed letter
				b.WriteRune(withoutAccent(unicode.ToLower(r)))
			}
		}
	}
	return b.String()
}

func withoutAccent(r rune) rune {
	switch r {
	case 'á', 'à', 'â', 'ä', 'ã', 'å':
		return 'a'
	case 'é', 'è', 'ê', 'ë':
		return 'e'
	case 'í', 'ì', 'î', 'ï':
		return 'i'
	case 'ó', 'ò', 'ô', 'ö', 'õ':
		return 'o'
	case 'ú', 'ù', 'û', 'ü':
		return 'u'
	case 'ñ':
		return 'n'
	case 'ç':
		return 'c'
	}
	return r
}
