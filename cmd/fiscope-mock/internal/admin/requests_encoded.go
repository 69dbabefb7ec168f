package admin

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/fiscope/fiscope/mockserver"
)

// encoded are the requests that streams have told of late, as JSON on a line: what costs most is done once for all
// viewers.
type encoded struct {
	mu   sync.Mutex
	last []line // by their revisions
}

// line is a request as it was encoded. The same revision may be shown in another way once a key is known.
type line struct {
	request mockserver.Request
	text    []byte
}

// encodedMost is how many lines are kept.
const encodedMost = 1024

// of returns a request's line, which nobody writes into.
func (e *encoded) of(r *mockserver.Request) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = make([]line, encodedMost)
	}
	kept := &e.last[r.Rev%encodedMost]
	if kept.request != *r {
		*kept = line{*r, asLine(r)}
	}
	return kept.text
}

// asLine encodes what has only plain members.
func asLine(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail
	return b.Bytes()
}
