package relevance

import (
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
