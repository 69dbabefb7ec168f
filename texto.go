package fiscope

import (
	"strings"
	"unicode/utf8"
)

// digits reports whether s is one or more ASCII digits. Other scripts' digits are letters to the
// service.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// cut returns at most n runes of s, with an ellipsis where something was left out.
func cut(s string, n int) string {
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
