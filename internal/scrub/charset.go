package scrub

import (
	"bytes"
	"unicode/utf8"
)

// windows1252 holds the characters of the bytes 0x80 to 0x9F; the five that stand for nothing are
// U+FFFD. The bytes from 0xA0 on are their own code points. Source: the WHATWG Encoding Standard's
// index of windows-1252.
var windows1252 = [32]rune{
	'€', '\uFFFD', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\uFFFD', 'Ž', '\uFFFD',
	'\uFFFD', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\uFFFD', 'ž', 'Ÿ',
}

// UTF8 returns body as UTF-8, without a byte order mark. Only the bytes that are not UTF-8 are read
// as Windows-1252: the registry mixes both, and one name cut inside an Ñ must not break the others.
func UTF8(body []byte) []byte {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if utf8.Valid(body) {
		return body
	}
	text := make([]byte, 0, len(body)+len(body)/8)
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			r = rune(body[0])
			if r >= 0x80 && r < 0xA0 {
				r = windows1252[r-0x80]
			}
		}
		text = utf8.AppendRune(text, r)
		body = body[size:]
	}
	return text
}
