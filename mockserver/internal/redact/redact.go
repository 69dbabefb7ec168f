// Package redact takes out of a request what the journal must not keep: API keys and claves, wherever
// they were put, and text without end. Keys are shown by a fingerprint.
package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of what is kept, in bytes.
const (
	textMost   = 300
	answerMost = 4 << 10
)

// Prefix begins every fingerprint.
const Prefix = "k_"

var secret = sync.OnceValue(func() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, by its documentation
	return b
})

// Fingerprint names an API key without showing it: [Prefix] and 8 hex digits, other ones in each process.
func Fingerprint(key string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), secret()...), key...))
	return Prefix + hex.EncodeToString(sum[:4])
}

// IsFingerprint reports whether a text has the form of a fingerprint.
func IsFingerprint(text string) bool { return fingerprint.MatchString(text) }

var fingerprint = regexp.MustCompile("^" + Prefix + "[0-9a-f]{8}$")

// Text bounds a piece of a request's head, without the keys.
func Text(s string, keys Keys) string {
	s = keys.Out(s)
	if len(s) > textMost {
		s = s[:textMost] + "…"
	}
	return s
}

// Path bounds a path without the keys. The words of its route, with which it begins, are no secret.
func Path(path, words string, keys Keys) string {
	rest := strings.TrimPrefix(path, words)
	if shown := Text(rest, keys); shown != rest {
		return words + shown
	}
	return path
}

// Answer bounds an answer's body, without the keys: a fault may have put one there.
func Answer(body []byte, keys Keys) []byte {
	if keys.mayBeIn(body) {
		body = []byte(keys.Out(string(body)))
	}
	if len(body) > answerMost {
		return bytes.Clone(body[:answerMost]) // or the whole would stay in memory
	}
	return body
}

// Query keeps the parameters that are read, decoded, and of the others the names that are a word.
func Query(u *url.URL, read []string, keys Keys) string {
	if u.RawQuery == "" {
		return ""
	}
	query := u.Query()
	var kept []string
	for _, name := range read {
		for _, value := range query[name] {
			kept = append(kept, name+"="+value)
		}
		delete(query, name)
	}
	if len(query) > 0 {
		var names []string
		for name := range query {
			if word.MatchString(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if others := len(query) - len(names); others > 0 {
			names = append(names, strconv.Itoa(others)+" más")
		}
		kept = append(kept, "(no leídos: "+strings.Join(names, ", ")+")")
	}
	return Text(strings.Join(kept, "&"), keys)
}

// word is the form of a parameter's name; another one may be a secret.
var word = regexp.MustCompile(`^[A-Za-z_.\[\]-]{1,24}$`)

// Body is what is kept of a body that is not the object of a receipt validation, for which see [CPE]: its
// size and whether it says it is JSON. It may hold a clave anywhere.
func Body(contentType string, size int) string {
	kind := "application/json"
	if media, _, _ := mime.ParseMediaType(contentType); media != kind {
		kind = "not application/json"
	}
	return "(" + strconv.Itoa(size) + " bytes, " + kind + ")"
}
