package redact

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// headersMost is how many headers of a request or an answer are kept.
const headersMost = 64

// Headers appends the headers to pairs, as name and value, without secrets.
func Headers(pairs []string, h http.Header, keys Keys) []string {
	for name, values := range h {
		for _, value := range values {
			if len(pairs) < 2*headersMost {
				pairs = append(pairs, name, Header(name, value, keys))
			}
		}
	}
	return pairs
}

// Map returns a header in net/http's form.
func Map(pairs []string) map[string][]string {
	var h map[string][]string
	for i := 0; i < len(pairs); i += 2 {
		if h == nil {
			h = make(map[string][]string, len(pairs)/2)
		}
		name := http.CanonicalHeaderKey(pairs[i])
		h[name] = append(h[name], pairs[i+1])
	}
	return h
}

// Header returns a header's value without secrets: an API key as its fingerprint, another credential as a hash. The name is
// in net/http's form.
func Header(name, value string, keys Keys) string {
	switch {
	case value == "":
		return ""
	case name == "X-Api-Key":
		return keys.fingerprint(value)
	case name == "Content-Type" && strings.Contains(value, ";"): // its parameters may be anything
		media, parameters, err := mime.ParseMediaType(value)
		if _, charset := parameters["charset"]; err == nil && (len(parameters) > 1 || len(parameters) == 1 && !charset) {
			value = media + "; …"
		}
	case isCredential(name):
		return "*** (" + strings.TrimPrefix(Fingerprint(value), Prefix) + ")"
	}
	return Text(value, keys)
}

// credentials are parts of the names of headers with a secret.
var credentials = []string{"auth", "cookie", "token", "secret", "passw", "clave", "key"}

// isCredential reports whether a header's value is secret, by its name.
func isCredential(name string) bool {
	if strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "X-Rate") || name == "Date" || name == "User-Agent" { // most calls'
		return false
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(credentials, func(part string) bool { return strings.Contains(lower, part) })
}
