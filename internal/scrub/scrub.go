// Package scrub makes what a server sent safe to show.
package scrub

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Marker stands where a secret stood.
const Marker = "[secreto]"

const (
	longestMessage  = 300                    // runes of the server's text in an error
	longestLine     = 4 * 2 * longestMessage // bytes that are searched for it: half of its runes may be abridged
	longestBody     = 4096                   // bytes of Error.Body
	longestSearched = 64 << 10               // bytes
	withheld        = "[text withheld: it repeats a credential]"
)

// Secrets takes the secrets of a call out of what the server sent before it reaches an error, a
// warning or a header that the caller sees. A server that echoes a request is common; a log that then
// holds a password is for good.
type Secrets struct {
	// A func, since fmt prints what fields hold and dumpers follow pointers.
	patterns func() *patterns
}

// With returns the secrets of s and another one.
func (s Secrets) With(secret string) Secrets {
	p := newPattern(secret)
	if p == nil {
		return s
	}
	more := s.known().with(p)
	return Secrets{func() *patterns { return more }}
}

func (s Secrets) known() *patterns {
	if s.patterns == nil {
		return nil
	}
	return s.patterns()
}

// Redact puts the marker in the place of each secret, however its runes are written: in any case, with
// accents or without, in the escapes of JSON, HTML, URLs and programming languages, in several of them or
// in escapes of escapes, with invisible characters between them. A secret so short that it occurs by
// chance withholds the whole text, and so do more escapes of escapes than are searched. What is too long to
// be searched is left out.
func (s Secrets) Redact(text string) string { return s.head(text, longestSearched) }

// head redacts the first bytes of a text, and leaves out the others.
func (s Secrets) head(text string, bytes int) string {
	return s.redact(text[:min(len(text), bytes)], len(text) > bytes)
}

// redact also leaves out the end of a text that was cut, where a secret or a RUC may have been cut with it.
func (s Secrets) redact(text string, wasCut bool) string {
	if wasCut {
		text = wholeRunes(text)
	}
	found, open, ok := s.known().find(text)
	text = without(text, found, open, ok, wasCut)
	if wasCut {
		text = withoutNumber(text)
	}
	return text
}

// without returns a text with the marker in the place of what was found.
func without(text string, found []span, open int, ok, wasCut bool) string {
	switch {
	case !ok:
		return withheld
	case !wasCut:
		open = len(text)
	}
	if len(found) == 0 {
		return text[:open]
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	shown := 0 // how much of the text was dealt with
	for _, secret := range found {
		if secret.start >= open {
			break
		}
		if secret.start >= shown {
			b.WriteString(text[shown:secret.start])
			b.WriteString(Marker)
		}
		shown = max(shown, secret.end)
	}
	b.WriteString(text[min(shown, open):open])
	return b.String()
}

// In reports whether a body holds a secret, in any way that Redact knows, or may hold one: it is longer than
// what is searched.
func (s Secrets) In(body []byte) bool {
	if len(body) > longestSearched {
		return true
	}
	found, _, ok := s.known().find(string(body))
	return len(found) > 0 || !ok
}

// WithoutTail returns the first bytes of a body that was cut, as many as are searched for secrets, and
// without the end where a secret may have been cut with it.
func (s Secrets) WithoutTail(body []byte) []byte {
	text := wholeRunes(string(body[:min(len(body), longestSearched)]))
	_, open, _ := s.known().find(text)
	return body[:open]
}

// wholeRunes returns a text that was cut without the first bytes of a character that was cut with it.
func wholeRunes(text string) string {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// Line returns the server's text as one line that is safe to log: without secrets, control characters
// and the characters that turn the direction of writing, RUCs abridged, at most 300 runes.
func (s Secrets) Line(text string) string {
	text = s.head(strings.TrimSpace(text), longestLine)
	text = visibleHead(strings.ToValidUTF8(text, "\uFFFD"), 2*longestMessage)
	return Cut(AbridgeRUCs(text), longestMessage)
}

// Page returns what a person would read of a body that is not JSON, without secrets. No more of the body
// is searched than that takes, and a little, in which it shows that most of what may have begun a secret did
// not. What is shown is searched again: its tags, and its escapes, may have stood within a secret.
func (s Secrets) Page(body []byte) string {
	const more = 128
	text, wasCut := searched(body)
	shown, read, shownCut := pageText(text, longestLine, wasCut)
	begin := text[:min(len(text), read+more)]
	beginCut := len(begin) < len(body)
	clean := s.redact(begin, beginCut)
	if !strings.HasPrefix(clean, text[:read]) {
		if beginCut {
			clean = withoutWord(clean)
		}
		shown, _, shownCut = pageText(clean, longestLine, beginCut)
	}
	return s.redact(shown[:min(len(shown), longestLine)], shownCut || len(shown) > longestLine)
}

// PageText is Page with the secrets in it, and more of it than is shown. It is for whoever decides whether a
// page may be shown, and must not be shown itself.
func PageText(body []byte) string {
	text, wasCut := searched(body)
	if !isPage(text) {
		return text
	}
	text, _, _ = pageText(text, longestPage, wasCut)
	return text
}

// searched returns as much of a body as is searched, and whether that is not all of it.
func searched(body []byte) (text string, wasCut bool) {
	if len(body) <= longestSearched {
		return string(body), false
	}
	return withoutWord(string(body[:longestSearched])), true
}

// Unmarked returns a text of Page without what stands in it for secrets.
func Unmarked(text string) string {
	return strings.NewReplacer(Marker, "", withheld, "").Replace(text)
}

// Body returns what the caller may see of an answer.
func (s Secrets) Body(body []byte) []byte {
	text := s.redact(string(body[:min(len(body), longestBody)]), len(body) > longestBody)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return []byte(wholeRunes(text[:min(len(text), longestBody)]))
}

// Header returns a copy without the secrets that the server echoed.
func (s Secrets) Header(h http.Header) http.Header {
	known := s.known()
	if known == nil {
		return h.Clone()
	}
	var room []search // one for all values: a header has many
	var escapes escapes
	redact := func(text string) string {
		if len(text) > longestSearched {
			return s.Redact(text)
		}
		room = known.begin(room)
		found, open, ok := known.findIn(text, room, &escapes)
		return without(text, found, open, ok, false)
	}
	clean := h.Clone()
	for name, values := range h {
		for i, value := range values {
			clean[name][i] = redact(value)
		}
		if shown := redact(name); shown != name {
			clean[shown] = append(clean[shown], clean[name]...)
			delete(clean, name)
		}
	}
	return clean
}
