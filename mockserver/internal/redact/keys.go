package redact

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
)

// keyShortest is the length of the shortest key that is searched for: a shorter one may be part of any text.
const keyShortest = 6

// Keys are the API keys to hide in texts.
type Keys struct {
	all   []searched // longest first: one may be part of another
	later bool       // see Later
}

// searched is a key, the key with its apparent escapes removed unless that is too short, and its fingerprint.
type searched struct{ key, plain, id string }

// NewKeys returns the keys that are long enough to search for.
func NewKeys(keys ...string) Keys { return Keys{}.And(keys...) }

// Later returns the keys for texts that are read rarely: whole ones are left as they are, until Out is called for them. One
// that is cut is without keys at once: half a key could not be found.
func (ks Keys) Later() Keys {
	ks.later = true
	return ks
}

// And returns the keys and more.
func (ks Keys) And(more ...string) Keys {
	all := slices.Clone(ks.all)
	for _, key := range more {
		plain := unescaped(key)
		if len(plain) < keyShortest {
			plain = key
		}
		if len(key) >= keyShortest {
			all = append(all, searched{key, plain, Fingerprint(key)})
		}
	}
	slices.SortStableFunc(all, func(a, b searched) int { return len(b.key) - len(a.key) })
	return Keys{all: all}
}

// Out replaces the keys in a text by their fingerprints. If a key is written with the escapes of URLs, JSON or HTML, even
// nested ones, the result has no escapes. Keys in another case or in base64 are not found.
func (ks Keys) Out(s string) string {
	if len(s) < keyShortest {
		return s
	}
	plain := unescaped(s)
	if plain != s && slices.ContainsFunc(ks.all, func(k searched) bool { return strings.Contains(plain, k.plain) }) {
		s = plain
	}
	for _, k := range ks.all {
		s = strings.ReplaceAll(s, k.key, k.id)
		if k.plain != k.key {
			s = strings.ReplaceAll(s, k.plain, k.id)
		}
	}
	return s
}

// fingerprint returns a key's fingerprint.
func (ks Keys) fingerprint(key string) string {
	for _, k := range ks.all {
		if k.key == key {
			return k.id
		}
	}
	return Fingerprint(key)
}

// in reports whether a text contains a key.
func (ks Keys) in(s string) bool { return ks.Out(s) != s }

// mayBeIn reports whether Out must search the text.
func (ks Keys) mayBeIn(text []byte) bool {
	return len(ks.all) > 0 && (bytes.IndexByte(text, '%') >= 0 || bytes.IndexByte(text, '\\') >= 0 || bytes.IndexByte(text, '&') >= 0) ||
		slices.ContainsFunc(ks.all, func(k searched) bool { return bytes.Contains(text, []byte(k.key)) })
}

// unescaped removes the escapes of URLs, JSON and HTML from a text, including those that appear by removing another, as
// in %2541.
func unescaped(s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 { // three times as fast as ContainsAny, for every request
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = append(b, s[i])
		for {
			c, length := lastEscape(b)
			if length == 0 {
				break
			}
			b = append(b[:len(b)-length], c)
		}
	}
	return string(b)
}

// lastEscape returns the character of an escape at the end of b, and the escape's length, 0 for none. It only finds ASCII
// characters, as in keys.
func lastEscape(b []byte) (c byte, length int) {
	for _, e := range [...]struct {
		start  string
		digits int
	}{{"%", 2}, {"%u", 4}, {`\x`, 2}, {`\u`, 4}, {`\U`, 8}} {
		digits := len(b) - e.digits
		if digits < 0 || !bytes.HasSuffix(b[:digits], []byte(e.start)) {
			continue
		}
		if n, err := strconv.ParseUint(string(b[digits:]), 16, 32); err == nil && n < 0x80 {
			return byte(n), len(e.start) + e.digits
		}
	}
	if n := len(b); n >= 2 && b[n-2] == '\\' && strings.IndexByte(`"\/`, b[n-1]) >= 0 {
		return b[n-1], 2
	}
	if n := len(b); n > 0 && b[n-1] == ';' {
		const longest = len("&#x00000041;")
		if at := bytes.LastIndexByte(b[max(0, n-longest):], '&'); at >= 0 {
			at += max(0, n-longest)
			if text := html.UnescapeString(string(b[at:])); len(text) == 1 {
				return text[0], n - at
			}
		}
	}
	return 0, 0
}
