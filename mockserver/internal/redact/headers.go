package redact

import (
	"mime"
	"net/http"
	"regexp"
	"strings"
)

// headersMost is how many headers of a request or an answer are kept.
const headersMost = 64

// Headers appends what is kept of a header, a name and a value each, without secrets.
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

// Map is a header as net/http has it, of names and values.
func Map(pairs []string) map[string][]string {
	var h map[string][]string
	for i := 0; i < len(pairs); i += 2 {
		if h == nil {
			h = make(map[string][]string, len(pairs)/2)
		}
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// Header is what is kept of a header's value: of an API key its fingerprint, and of another credential no more than
// whether two are the same. The name is as net/http writes it.
func Header(name, value string, keys Keys) string {
	switch {
	case value == "":
		return ""
	case name == "X-Api-Key":
		return Fingerprint(value)
	case name == "Content-Type": // whose parameters may be anything
		media, parameters, err := mime.ParseMediaType(value)
		if _, charset := parameters["charset"]; err == nil && (len(parameters) > 1 || len(parameters) == 1 && !charset) {
			value = media + "; …"
		}
	case credential.MatchString(name):
		return "*** (" + strings.TrimPrefix(Fingerprint(value), Prefix) + ")"
	}
	return Text(value, keys)
}

var credential = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|clave|key`)
