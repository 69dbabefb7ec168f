package scrub

import (
	"html"
	"strings"
)

// longestPage is how many bytes of a page's text are read by whoever decides whether it may be shown: far
// more than a message shows.
const longestPage = 4096

// pageText returns what a person would read of a body that is not JSON: an HTML page's title, or its
// text without tags, about as many bytes as are wanted, how many bytes of the body that took, and whether
// there is more: of a body that was cut, always but of a title. It reads the body once, whatever is in it.
func pageText(body string, wanted int, wasCut bool) (shown string, read int, more bool) {
	if !isPage(body) {
		shown = body[:min(len(body), wanted)]
		return shown, len(shown), wasCut || len(shown) < len(body)
	}
	if _, title, ok := cutTag(body, "<title"); ok {
		if _, title, ok = strings.Cut(title, ">"); ok {
			if title, after, ok := cutTag(title, "</title"); ok && Visible(title) != "" {
				return html.UnescapeString(title), len(body) - len(after), false
			}
		}
	}
	var text strings.Builder
	text.Grow(min(len(body), wanted))
	for rest := body; ; {
		before, tag, ok := strings.Cut(rest, "<")
		if strings.TrimSpace(before) != "" {
			text.WriteString(before)
			text.WriteByte(' ')
		}
		if !ok || text.Len() > wanted {
			return html.UnescapeString(text.String()), len(body) - len(tag), wasCut || ok
		}
		for _, element := range []string{"script", "style"} { // whose text does not show
			if hasPrefixFold(tag, element) {
				_, tag, _ = cutTag(tag, "</"+element)
			}
		}
		_, rest, _ = strings.Cut(tag, ">")
	}
}

// withoutWord returns the beginning of a body, where it is a page, without the word at its end, in which an
// escape or a RUC may have been cut.
func withoutWord(beginning string) string {
	if !isPage(beginning) {
		return beginning
	}
	return beginning[:strings.LastIndexAny(beginning, " \t\r\n<>")+1]
}

func isPage(body string) bool { return strings.HasPrefix(strings.TrimSpace(body), "<") }

// cutTag is strings.Cut for the beginning of a tag, in any case.
func cutTag(s, tag string) (before, after string, found bool) {
	for i := 0; ; i++ {
		next := strings.IndexByte(s[i:], '<')
		if next < 0 {
			return s, "", false
		}
		if i += next; hasPrefixFold(s[i:], tag) {
			return s[:i], s[i+len(tag):], true
		}
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
