// Package scrub decides how much of a foreign text may be shown.
package scrub

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marker replaces a secret.
const Marker = "[secreto]"

// Secrets are texts that are never shown.
type Secrets []string

// With returns s with one more secret; an empty one is ignored.
func (s Secrets) With(secret string) Secrets {
	if secret == "" {
		return s
	}
	return append(slices.Clip(s), secret)
}

// Verbatim reports whether b contains a secret as it is.
func (s Secrets) Verbatim(b []byte) bool {
	return slices.ContainsFunc(s, func(secret string) bool { return bytes.Contains(b, []byte(secret)) })
}

// in reports whether a text contains a secret, ignoring case and everything but letters and digits.
func (s Secrets) in(text string) bool {
	plain := fold(text)
	return slices.ContainsFunc(s, func(secret string) bool {
		folded := fold(secret)
		return folded != "" && strings.Contains(plain, folded) || folded == "" && strings.Contains(text, secret)
	})
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

// The longest sentence of an answer that is shown, and its longest word that mixes letters and digits, in characters.
const (
	longestSentence = 200
	longestMixed    = 11
)

// Sentence returns a text of an answer as it may be shown: on one line, with long numbers abridged. It returns false if
// the text is empty or too long, has a character unusual in a sentence, has a word like a token, or repeats a secret.
func (s Secrets) Sentence(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || utf8.RuneCountInString(text) > longestSentence || s.in(text) {
		return "", false
	}
	length, letters, digits := 0, false, false // of the word so far
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), r == '_':
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

// Line returns our own text, or that of an error's cause, on one line and with RUCs abridged, or withheld if it repeats
// a secret.
func (s Secrets) Line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if s.in(text) {
		return "(not shown: it repeats a credential)"
	}
	return Cut(abridge(text, rucLen-1), 300)
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
	rucLen        = 11
	longestNumber = 7 // digits of the longest number shown in full: a DNI has 8
)

// AbridgeRUC returns the first two and the last three digits of a RUC: one that begins with 10 contains its owner's
// DNI.
func AbridgeRUC(ruc string) string {
	if len(ruc) != rucLen {
		return "…"
	}
	return ruc[:2] + "…" + ruc[rucLen-3:]
}

// AbridgeRUCs abridges the numbers of a text that may be RUCs: those of 11 digits and more.
func AbridgeRUCs(text string) string { return abridge(text, rucLen-1) }

var number = regexp.MustCompile(`\p{Nd}+`)

// abridge shortens numbers of more than longest digits.
func abridge(text string, longest int) string {
	return strings.ToValidUTF8(number.ReplaceAllStringFunc(text, func(n string) string {
		switch {
		case utf8.RuneCountInString(n) <= longest:
			return n
		case len(n) == rucLen:
			return AbridgeRUC(n)
		}
		return n[:2] + "…"
	}), "")
}

// Digits reports whether s is one or more ASCII digits.
func Digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
