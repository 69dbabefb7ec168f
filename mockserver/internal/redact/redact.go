// Package redact removes from a request what the journal must not keep: API keys and claves, wherever they are, and text
// beyond a limit. It shows keys as fingerprints.
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

// The limits of what is kept, in bytes.
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

// Fingerprint identifies an API key without showing it: [Prefix] and 8 hex digits, which differ in each process.
func Fingerprint(key string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), secret()...), key...))
	return Prefix + hex.EncodeToString(sum[:4])
}

// IsFingerprint reports whether a text has the form of a fingerprint.
func IsFingerprint(text string) bool { return fingerprint.MatchString(text) }

var fingerprint = regexp.MustCompile("^" + Prefix + "[0-9a-f]{8}$")

// Text returns a limited piece of a request's head, without keys.
func Text(s string, keys Keys) string {
	if keys.later && len(s) <= textMost {
		return s
	}
	s = keys.Out(s)
	if len(s) > textMost {
		s = s[:textMost] + "…"
	}
	return s
}

// Answer returns a limited answer body without keys, which a fault may have set.
func Answer(body []byte, keys Keys) []byte {
	if keys.later && len(body) <= answerMost {
		return body
	}
	if shown := keys.Out(string(body)); shown != string(body) {
		body = []byte(shown)
	}
	if len(body) > answerMost {
		return bytes.Clone(body[:answerMost]) // or the whole would stay in memory
	}
	return body
}

// Query returns the parameters in read, decoded, and the names of the others that are a word.
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

// word is the form of a parameter's name; any other name may be a secret.
var word = regexp.MustCompile(`^[A-Za-z_.\[\]-]{1,24}$`)

// Body describes a body that is not a receipt validation's object (see [CPE]) by its size and whether it claims to be JSON.
// It may contain a clave anywhere.
func Body(contentType string, size int) string {
	kind := "application/json"
	if media, _, _ := mime.ParseMediaType(contentType); media != kind {
		kind = "not application/json"
	}
	return "(" + strconv.Itoa(size) + " bytes, " + kind + ")"
}
