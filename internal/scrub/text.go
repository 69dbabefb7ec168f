package scrub

import (
	"html"
	"regexp"
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
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if n == 0 {
			break
		}
		b.WriteRune(r)
		n--
	}
	return b.String() + "…"
}

// Visible joins the words of a text with single spaces and leaves out what does not show: controls,
// and the format characters (among them the bidirectional ones) with which a text can hide another.
func Visible(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, text)), " ")
}

// PageText returns what a person would read of a body that is not JSON: an HTML page's title, or its
// text without tags. It reads the body once, whatever is in it: no regular expression.
func PageText(body string) string {
	if !strings.HasPrefix(strings.TrimSpace(body), "<") {
		return body
	}
	if _, title, ok := cutFold(body, "<title"); ok {
		if _, title, ok = strings.Cut(title, ">"); ok {
			if title, _, ok = cutFold(title, "</title"); ok && Visible(title) != "" {
				return html.UnescapeString(title)
			}
		}
	}
	var text strings.Builder
	for {
		before, tag, ok := strings.Cut(body, "<")
		text.WriteString(before + " ")
		if !ok {
			return html.UnescapeString(text.String())
		}
		for _, hidden := range []string{"script", "style"} {
			if len(tag) >= len(hidden) && strings.EqualFold(tag[:len(hidden)], hidden) {
				_, tag, _ = cutFold(tag, "</"+hidden)
			}
		}
		_, body, _ = strings.Cut(tag, ">")
	}
}

// cutFold is strings.Cut for a separator in ASCII, in any case.
func cutFold(s, separator string) (before, after string, found bool) {
	for i := 0; i+len(separator) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(separator)], separator) {
			return s[:i], s[i+len(separator):], true
		}
	}
	return s, "", false
}

// AbridgeRUC shows the first two and the last three digits of a RUC: a RUC 10 contains its owner's DNI.
func AbridgeRUC(ruc string) string {
	if len(ruc) != rucDigits {
		return "…"
	}
	return ruc[:2] + "…" + ruc[rucDigits-3:]
}

var rucInText = regexp.MustCompile(`\b[0-9]{11}\b`)

// AbridgeRUCs abridges every RUC in a text.
func AbridgeRUCs(s string) string { return rucInText.ReplaceAllStringFunc(s, AbridgeRUC) }

const rucDigits = 11
