// Package charset reads text that is not valid UTF-8 as Windows-1252.
package charset

import (
	"bytes"
	"unicode/utf8"
)

// windows1252 holds the characters of the bytes 0x80 to 0x9F; the five undefined ones are U+FFFD. Bytes from 0xA0 on
// are their own code points. Source: the WHATWG Encoding Standard's index of windows-1252.
var windows1252 = [32]rune{
	'€', '\uFFFD', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\uFFFD', 'Ž', '\uFFFD',
	'\uFFFD', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\uFFFD', 'ž', 'Ÿ',
}

// UTF8 returns body as UTF-8, without a byte order mark. It reads only invalid bytes as Windows-1252: the registry
// mixes both, and one name cut inside an Ñ must not break the others.
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
