// Package scrub decides what may be shown of a text that somebody else wrote.
package scrub

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker stands for a secret.
const Marker = "[secreto]"

// withheld stands for a text of ours, or of a cause, that repeats a secret.
const withheld = "(not shown: it repeats a credential)"

// Secrets are texts that are never shown. The zero value has none.
type Secrets struct{ texts, folded []string }

// With returns the secrets with one more; an empty one is ignored.
func (s Secrets) With(secret string) Secrets {
	if secret == "" {
		return s
	}
	return Secrets{append(slices.Clip(s.texts), secret), append(slices.Clip(s.folded), fold(secret))}
}

// Verbatim reports whether a secret stands in b as it is.
func (s Secrets) Verbatim(b []byte) bool {
	return slices.ContainsFunc(s.texts, func(secret string) bool { return bytes.Contains(b, []byte(secret)) })
}

// in reports whether a secret stands in a text, whatever its case and what stands between its letters and digits.
func (s Secrets) in(text string) bool {
	folded := fold(text)
	for i, secret := range s.folded {
		if secret == "" && strings.Contains(text, s.texts[i]) || secret != "" && strings.Contains(folded, secret) {
			return true
		}
	}
	return false
}

// fold returns the letters and digits of a text, in lower case.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// The longest sentence of an answer that is shown, and the longest word of letters and digits in it, in characters.
const (
	longestSentence = 200
	longestMixed    = 11
)

// Sentence returns a text of an answer as it may be shown, on one line and with long numbers abridged, and false if it
// may not: it has a character that no sentence has, is too long, has a word like a token's, or repeats a secret.
func (s Secrets) Sentence(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || utf8.RuneCountInString(text) > longestSentence || s.in(text) {
		return "", false
	}
	length, letters, digits := 0, false, false // of the word
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), r == '_', unicode.Is(unicode.Mn, r):
			letters = true
		case unicode.IsDigit(r):
			digits = true
		case strings.ContainsRune(` .,;:/()-¿?¡!"'«»“”`, r):
			length, letters, digits = 0, false, false
			continue
		default:
			return "", false
		}
		if length++; length > longestMixed && letters && digits {
			return "", false
		}
	}
	return abridge(text, longestNumber), true
}

// Line returns a text of ours, or of the cause of an error, on one line and without RUCs.
func (s Secrets) Line(text string) string {
	text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	if s.in(text) {
		return withheld
	}
	return Cut(abridge(text, rucDigits-1), 300)
}

func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsGraphic(r):
		return r
	}
	return -1
}

// Cut returns at most n runes of s, with an ellipsis if something was left out.
func Cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return strings.ToValidUTF8(s[:i], "\uFFFD") + "…"
		}
		n--
	}
	return s
}

const (
	rucDigits     = 11
	longestNumber = 7 // that is shown whole of an answer: a DNI has 8 digits
)

// AbridgeRUC shows the first two and the last three digits of a RUC: a RUC 10 contains its owner's DNI.
func AbridgeRUC(ruc string) string {
	if len(ruc) != rucDigits {
		return "…"
	}
	return ruc[:2] + "…" + ruc[rucDigits-3:]
}

// AbridgeRUCs abridges what may be a RUC in a text: numbers of 11 digits and more.
func AbridgeRUCs(text string) string { return abridge(text, rucDigits-1) }

// abridge shortens the numbers of a text that have more than longest digits.
func abridge(text string, longest int) string {
	var b strings.Builder
	for text != "" {
		end := strings.IndexFunc(text, unicode.IsDigit)
		if end < 0 {
			end = len(text)
		}
		b.WriteString(text[:end])
		text = text[end:]
		if end = strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) }); end < 0 {
			end = len(text)
		}
		switch number := text[:end]; {
		case utf8.RuneCountInString(number) <= longest:
			b.WriteString(number)
		case len(number) == rucDigits:
			b.WriteString(AbridgeRUC(number))
		default:
			b.WriteString(number[:2] + "…")
		}
		text = text[end:]
	}
	return strings.ToValidUTF8(b.String(), "")
}
