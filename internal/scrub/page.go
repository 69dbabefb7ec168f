package scrub

import (
	"html"
	"strings"
)

// longestPage is how many bytes of a page's text are read: far more than a message shows.
const longestPage = 4096

// pageText returns what a person would read of a body that is not JSON: an HTML page's title, or its
// text without tags, as much as a message can show. It reads the body once, whatever is in it.
func pageText(body string) string {
	if !strings.HasPrefix(strings.TrimSpace(body), "<") {
		return body
	}
	if _, title, ok := cutTag(body, "<title"); ok {
		if _, title, ok = strings.Cut(title, ">"); ok {
			if title, _, ok = cutTag(title, "</title"); ok && Visible(title) != "" {
				return html.UnescapeString(title)
			}
		}
	}
	var text strings.Builder
	for {
		before, tag, ok := strings.Cut(body, "<")
		if strings.TrimSpace(before) != "" {
			text.WriteString(before)
			text.WriteByte(' ')
		}
		if !ok || text.Len() > longestPage {
			return html.UnescapeString(text.String())
		}
		for _, element := range []string{"script", "style"} { // whose text does not show
			if hasPrefixFold(tag, element) {
				_, tag, _ = cutTag(tag, "</"+element)
			}
		}
		_, body, _ = strings.Cut(tag, ">")
	}
}

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
