package redact

import (
	"html"
	"regexp"
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
	whole bool       // see Whole
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

// Whole returns the keys for texts with many numbers: one of digits alone must be a whole number, or any RUC could have it.
func (ks Keys) Whole() Keys {
	ks.whole = true
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
	if plain := unescaped(s); plain != s {
		if shown := ks.replaced(plain); shown != plain {
			return shown
		}
	}
	return ks.replaced(s)
}

var number = regexp.MustCompile("[0-9]+")

// replaced replaces the keys as they are written.
func (ks Keys) replaced(s string) string {
	for _, k := range ks.all {
		if ks.whole && strings.Trim(k.key, "0123456789") == "" {
			s = number.ReplaceAllStringFunc(s, func(n string) string {
				if n == k.key {
					return k.id
				}
				return n
			})
			continue
		}
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

// escape matches an escape of URLs, JSON or HTML that may be an ASCII character, or of code points up to ÿ.
var escape = regexp.MustCompile(`%(?:u00)?[0-9A-Fa-f]{2}|\\(?:x|u00|U0{6})[0-9A-Fa-f]{2}|\\["\\/]|&#?[0-9A-Za-z]{2,10};`)

// unescaped removes the escapes from a text, including those that appear by removing another, as in %2541.
func unescaped(s string) string {
	const deepest = 10
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 { // three times as fast as ContainsAny, for every request
		return s
	}
	for range deepest {
		before := s
		if s = escape.ReplaceAllStringFunc(s, character); s == before {
			break
		}
	}
	return s
}

// character returns the character of an escape if it is ASCII, or up to ÿ as a code point; any other escape as it is.
func character(escaped string) string {
	code, _ := strconv.ParseUint(escaped[max(0, len(escaped)-2):], 16, 8)
	switch text := html.UnescapeString(escaped); {
	case len(text) == 1: // of HTML
		return text
	case len(escaped) == 2: // such as \"
		return escaped[1:]
	case escaped[0] != '&' && (code < 0x80 || strings.ContainsAny(escaped, "uU")):
		return string(rune(code))
	}
	return escaped
}
