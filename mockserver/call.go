package mockserver

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// call is one request on its way through the server.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	now  time.Time // read once, so that one answer never straddles midnight
	data *dataset

	op      *operation // nil when no route has the path
	ruc     string     // of a lookup's path
	key     string     // as it came
	account *account   // nil when the key is missing or unknown

	admitted bool // path, method and key are right

	fault     string // the name of the one that met it
	sunatDown bool   // a fault says so

	body    []byte // once it was read
	bodyErr error
	wasRead bool

	// For the journal.
	n         int64 // its number, once it is there
	nth       int64 // of its connection
	cost      int
	left      int
	redacted  string
	solResult SOLResult
	solHash   uint64
}

// readBody reads the request's body, the first time it is asked for.
func (c *call) readBody() ([]byte, error) {
	if !c.wasRead {
		c.wasRead = true
		c.body, c.bodyErr = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, bodyMost))
		c.redacted = unreadBody(c.r, len(c.body))
	}
	return c.body, c.bodyErr
}

// about reports whether a call is about a taxpayer: of a lookup, or of either side of a validation.
func (c *call) about(ruc string) bool {
	switch c.op {
	case lookup:
		return c.ruc == ruc
	case validation:
		var sides struct{ RUCEmisor, RUCSolicitante any }
		body, _ := c.readBody()
		_ = json.Unmarshal(body, &sides) // a body that is no JSON is about nobody
		return sides.RUCEmisor == ruc || sides.RUCSolicitante == ruc
	}
	return false
}
