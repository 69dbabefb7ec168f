// Package redact takes out of a request what the journal must not keep: API keys and claves, wherever
// they were put, and text without end. Keys are shown by a fingerprint.
package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/url"
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

// Fingerprint names an API key without telling it: [Prefix] and 8 hex digits, other ones in each process.
func Fingerprint(key string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), secret()...), key...))
	return Prefix + hex.EncodeToString(sum[:4])
}

// Text bounds a piece of a request's head, and puts the fingerprint where the request's key is in it.
func Text(s, key string) string {
	if key != "" && strings.Contains(s, key) {
		s = strings.ReplaceAll(s, key, Fingerprint(key))
	}
	if len(s) > textMost {
		s = s[:textMost] + "…"
	}
	return s
}

// Answer bounds an answer's body, and puts the fingerprint where the request's key is in it: an error
// text shows what was wrong in the path.
func Answer(body []byte, key string) []byte {
	if key != "" && bytes.Contains(body, []byte(key)) {
		body = bytes.ReplaceAll(body, []byte(key), []byte(Fingerprint(key)))
	}
	if len(body) > answerMost {
		return bytes.Clone(body[:answerMost]) // or the whole would stay in memory
	}
	return body
}

// Query keeps the contract's parameters, decoded, and counts the others, which may be anything.
func Query(u *url.URL, key string) string {
	if u.RawQuery == "" {
		return ""
	}
	query := u.Query()
	var kept []string
	for _, name := range []string{"razonSocial", "limit", "fecha"} {
		for _, value := range query[name] {
			kept = append(kept, name+"="+value)
		}
		delete(query, name)
	}
	if len(query) > 0 {
		kept = append(kept, fmt.Sprintf("(%d more)", len(query)))
	}
	return Text(strings.Join(kept, "&"), key)
}

// Body is what is kept of a body that is not the object of a receipt validation, for which see [CPE]: its
// size and whether it says it is JSON. It may hold a clave anywhere.
func Body(contentType string, size int) string {
	kind := "application/json"
	if media, _, _ := mime.ParseMediaType(contentType); media != kind {
		kind = "not application/json"
	}
	return "(" + strconv.Itoa(size) + " bytes, " + kind + ")"
}
