package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Digits reports whether s is one or more ASCII digits. Other scripts' digits are letters to the
// service.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Cut returns at most n runes of s, with an ellipsis where something was left out.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return strings.ToValidUTF8(s[:i], "\uFFFD") + "…"
		}
		n--
	}
	return s
}

// withoutNumber returns the beginning of a text without a number at its end, which may have gone on there: a
// RUC that is not whole would not be abridged. What does not show may stand between its digits.
func withoutNumber(beginning string) string {
	return strings.TrimRightFunc(beginning, func(r rune) bool {
		return r >= '0' && r <= '9' || hidden(r) && !unicode.IsSpace(r)
	})
}

// Visible joins the words of a text with single spaces and leaves out what does not show: controls,
// and the format characters (among them the bidirectional ones) with which a text can hide another.
func Visible(text string) string { return visibleHead(text, len(text)) }

// visibleHead returns at least the first runes of the visible text.
func visibleHead(text string, runes int) string {
	if len(text) <= runes && isVisible(text) {
		return text
	}
	var b strings.Builder
	b.Grow(min(len(text), runes))
	write := func(word string, afterBlank bool) {
		if afterBlank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	afterBlank := false
	for i := 0; i < len(text) && runes > 0; {
		word := i
		for i < len(text) && i-word < runes && text[i] > ' ' && text[i] < 0x7F {
			i++
		}
		if i > word { // the usual characters are written together
			write(text[word:i], afterBlank)
			afterBlank, runes = false, runes-(i-word)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case unicode.IsSpace(r):
			afterBlank = true
		case !hidden(r):
			write(string(r), afterBlank)
			afterBlank, runes = false, runes-1
		}
	}
	return b.String()
}

// isVisible reports whether Visible has nothing to change.
func isVisible(text string) bool {
	afterBlank := true
	for _, r := range text {
		switch {
		case r == ' ':
			if afterBlank {
				return false
			}
		case r > ' ' && r < 0x7F:
		case unicode.IsSpace(r), hidden(r):
			return false
		}
		afterBlank = r == ' '
	}
	return !afterBlank || text == ""
}

const rucDigits = 11

// AbridgeRUC shows the first two and the last three digits of a RUC: a RUC 10 contains its owner's DNI.
func AbridgeRUC(ruc string) string {
	if len(ruc) != rucDigits {
		return "…"
	}
	return ruc[:2] + "…" + ruc[rucDigits-3:]
}

// AbridgeRUCs abridges every RUC in a text: 11 digits that are no part of a longer word.
func AbridgeRUCs(s string) string {
	var b strings.Builder
	shown := 0 // how much of s was written
	for i := 0; i < len(s); {
		word := i
		for i < len(s) && (alphanumeric(rune(s[i])) || s[i] == '_') {
			i++
		}
		if i-word == rucDigits && Digits(s[word:i]) {
			b.WriteString(s[shown:word])
			b.WriteString(AbridgeRUC(s[word:i]))
			shown = i
		}
		i = max(i, word+1)
	}
	if shown == 0 {
		return s
	}
	return b.String() + s[shown:]
}
