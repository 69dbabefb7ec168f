package relevance

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold prepares a text for comparing: lower case, single spaces, and no accents, composed or not (Ñ becomes N, as many
// registries write it).
func Fold(s string) string { return string(AppendFold(make([]byte, 0, len(s)), s)) }

// AppendFold appends to dst what [Fold] returns for s.
func AppendFold[Text string | []byte](dst []byte, s Text) []byte {
	start, inWord := len(dst), false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		}
		i += size
		if r == ' ' || (r < ' ' || r >= utf8.RuneSelf) && unicode.IsSpace(r) {
			inWord = false
			continue
		}
		if !inWord && len(dst) > start {
			dst = append(dst, ' ')
		}
		inWord = true
		switch {
		case 'A' <= r && r <= 'Z':
			dst = append(dst, s[i-1]+'a'-'A')
		case r < utf8.RuneSelf:
			dst = append(dst, s[i-1])
		case !unicode.Is(unicode.Mn, r): // the combining accent of a decomposed letter
			dst = utf8.AppendRune(dst, withoutAccent(unicode.ToLower(r)))
		}
	}
	return dst
}

// accented and plain have the letters that lose an accent, and what they become; an accented one has two bytes.
const (
	accented = "áàâäãåéèêëíìîïóòôöõúùûüñç"
	plain    = "aaaaaaeeeeiiiiooooouuuunc"
)

func withoutAccent(r rune) rune {
	if at := strings.IndexRune(accented, r); at >= 0 {
		return rune(plain[at/2])
	}
	return r
}
