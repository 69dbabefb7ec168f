package admin

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// inEnglish returns the English of a refusal's text. A part that is no sentence, such as a value, stays as it is.
func inEnglish(text string) string {
	for _, s := range sentences() {
		if parts := s.spanish.FindStringSubmatch(text); parts != nil {
			var english []any
			for _, part := range parts[1:] {
				english = append(english, inEnglish(part))
			}
			return fmt.Sprintf(s.english, english...)
		}
	}
	return text
}

// table has a sentence a line, in Spanish and English. %s stands for any part, which may be a sentence too, and %d for a number.
//
//go:embed english.txt
var table string

type sentence struct {
	spanish *regexp.Regexp
	english string
}

// sentences returns the table, the most specific first: those with the longest known beginning, then the longest.
var sentences = sync.OnceValue(func() (list []sentence) {
	lines := strings.FieldsFunc(table, func(r rune) bool { return r == '\n' })
	slices.SortFunc(lines, func(a, b string) int {
		return cmp.Or(strings.IndexAny(b, "%|")-strings.IndexAny(a, "%|"), strings.Index(b, "|")-strings.Index(a, "|"))
	})
	for _, line := range lines {
		spanish, english, _ := strings.Cut(line, "|")
		form := strings.NewReplacer("%s", "(.*?)", "%d", `(\d+)`).Replace(regexp.QuoteMeta(spanish))
		list = append(list, sentence{regexp.MustCompile("(?s)^" + form + "$"), english})
	}
	return list
})
