package scrub

import (
	"bytes"
	"slices"
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
			r = Windows1252(body[0])
		}
		text = utf8.AppendRune(text, r)
		body = body[size:]
	}
	return text
}

// Windows1252 returns the character of a byte in Windows-1252.
func Windows1252(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return windows1252[b-0x80]
	}
	return rune(b)
}

// runeByte returns the byte that is read as r in Latin-1 or in Windows-1252.
func runeByte(r rune) (b byte, ok bool) {
	switch {
	case r < 0x100:
		return byte(r), r >= 0 //nolint:gosec // it is below 0x100
	case r == utf8.RuneError:
		return 0, false
	}
	i := slices.Index(windows1252[:], r)
	return byte(0x80 + i), i >= 0 //nolint:gosec // i is below 32
}

// decodeRune returns the first character of a text, and its length in bytes. A byte that is not UTF-8
// is read as Windows-1252.
func decodeRune(text string) (rune, int) {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		r = Windows1252(text[0])
	}
	return r, size
}
