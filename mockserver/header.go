package mockserver

import (
	"hash/maphash"
	"net/http"
	"strings"
)

// header is what the journal keeps of a request's header: enough to tell whether a field had a value, and
// nothing of what may be a secret. It is an array, so that a request needs no more memory of its own.
type header struct {
	fields [16]headerField // of more fields, some
	more   bool
}

// headerField is a field as two hashes; zero for none.
type headerField struct{ name, value uint64 }

var headerSeed = maphash.MakeSeed()

func headerHash(s string) uint64 { return maphash.String(headerSeed, s) | 1 }

// headerOf returns what is kept of the header of r. Values of one name are joined, as in RFC 9110, 5.3.
func headerOf(r *http.Request) (kept header) {
	kept.fields[0] = headerField{headerHash("Host"), headerHash(r.Host)}
	n := 1
	for name, values := range r.Header {
		if n == len(kept.fields) {
			kept.more = true
			break
		}
		kept.fields[n] = headerField{headerHash(name), headerHash(strings.Join(values, ", "))}
		n++
	}
	return kept
}

// differs returns why a field has not this value, and "" when it has; the value "" is that of a field that was
// not sent.
func (h *header) differs(name, value string) string {
	hash := headerHash(name)
	for _, f := range h.fields {
		switch {
		case f.name == hash && f.value == headerHash(value):
			return ""
		case f.name == hash:
			return name + " is another"
		}
	}
	switch {
	case h.more:
		return "it has too many headers to tell"
	case value != "":
		return "it has no " + name
	}
	return ""
}
