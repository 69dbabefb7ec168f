package mockserver

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// bodyMost is the largest body taken; the seven fields of a receipt validation need some two hundred bytes.
const bodyMost = 64 << 10

// call is one request on its way through the server: what came, and what has become of it so far.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	clock   *clock
	now     time.Time // when it came, and from the charge on, when it was charged: no answer straddles midnight
	data    *dataset
	journal *journal
	closing <-chan struct{} // closed when the server begins to close: nothing waits any longer

	assume  *Assumptions // one reading for all of the call
	to      *route       // nil for none
	op      Operation    // "" when no route has the path
	words   string       // of its route, with which its path begins; "" for no route
	ruc     string       // of a lookup's path; of a validation, the issuer's once its fields are right
	key     string       // as it came
	known   *redact.Keys // the server's keys when it came
	keys    redact.Keys  // which no text may show: known, and key
	account *account     // nil when the key is missing or unknown

	up    *upstream       // nil for none
	asked *UpstreamAnswer // nil if no real service was asked

	body    []byte // once it was read
	bodyErr error

	// What the journal is to know of it.
	came      time.Time
	n         int64  // its number, once it is there
	nth       int64  // of the requests of its connection
	span      span   // when it was under way
	recorded  answer // the last one that the journal was given
	left      int    // of the quota, after it
	redacted  string // its body, once it was read
	fault     string // the name of the one that met it
	retryOf   int64  // see Request, as attempt and replay
	attempt   int
	replay    int64
	solResult SOLResult
	solUser   uint64 // the user that it tried, hashed; 0 for none

	wasRead   bool // the body
	admitted  bool // path, method and key are right
	answered  bool // own is its answer, which was charged or refused
	own       answer
	charged   bool // it took one query from the quota ...
	charge    charge
	counted   bool // the journal knows of that
	sunatDown bool // a fault makes the tax authority not respond to it
	broken    bool // its answer does not come whole
	replaced  bool // a fault's answer takes the place of its own
}

// readClock takes the time of the server's clock as the call's, and as that of its answer.
func (c *call) readClock() {
	c.now = c.clock.now()
	c.w.Header()["Date"] = c.clock.dateHeader(c.now)
}

// readBody reads the request's body, the first time it is asked for.
func (c *call) readBody() ([]byte, error) {
	if !c.wasRead {
		c.wasRead = true
		c.body, c.bodyErr = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, bodyMost))
		if len(c.body) > 0 {
			c.redacted = redact.Body(c.r.Header.Get("Content-Type"), len(c.body))
		}
	}
	return c.body, c.bodyErr
}

// readOn reads what is still to come of the request's body, and reports whether the client is still there:
// net/http notices that a client left only once the body was read.
func (c *call) readOn() bool {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return true
	}
	read, watch := make(chan struct{}), sync.WaitGroup{}
	watch.Go(func() { // a client that sends nothing more does not keep the server from closing
		select {
		case <-c.closing:
			_ = http.NewResponseController(c.w).SetReadDeadline(time.Unix(1, 0)) // long past
		case <-read:
		}
	})
	defer watch.Wait()
	defer close(read)
	if !c.arrived() {
		return false
	}
	_, err := io.Copy(io.Discard, c.r.Body)
	return err == nil
}

// arrived reads the body and reports whether it came, if only to be too large.
func (c *call) arrived() bool {
	_, err := c.readBody()
	tooLarge := (*http.MaxBytesError)(nil)
	return err == nil || errors.As(err, &tooLarge)
}

// query decodes the query string, or returns the refusal of what net/url would drop in silence, of bytes that are not UTF-8,
// and of a parameter of the operation given twice. Parameters that the operation does not have are ignored.
func (c *call) query() (url.Values, answer) {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refusal(http.StatusBadRequest, codeBadQuery,
			"la cadena de consulta no se puede leer: escriba %% como %%25, & como %%26 y ; como %%3B en los valores (RFC 3986)")
	}
	for _, name := range c.to.params {
		if len(query[name]) > 1 {
			return nil, refusal(http.StatusBadRequest, codeRepeated,
				"el parámetro %s llegó %d veces: envíelo una sola vez", name, len(query[name]))
		}
		if !utf8.ValidString(query.Get(name)) {
			return nil, refusal(http.StatusBadRequest, codeBadQuery,
				"el parámetro %s no está en UTF-8: una Ñ, por ejemplo, se escribe %%C3%%91", name)
		}
	}
	return query, answer{}
}

// isAbout reports whether a call is about a taxpayer: of a lookup, or of either side of a validation.
func (c *call) isAbout(ruc string) bool {
	switch c.op {
	case OpConsultar:
		return c.ruc == ruc
	case OpValidar:
		var sides struct{ RUCEmisor, RUCSolicitante any }
		body, _ := c.readBody()
		_ = json.Unmarshal(body, &sides) // a body that is no JSON is about nobody
		return sides.RUCEmisor == ruc || sides.RUCSolicitante == ruc
	}
	return false
}

// quoted shows a piece of the request's line in an error text: without a key, which may be somebody
// else's, and that before it is cut.
func (c *call) quoted(s string) string { return quoted(c.keys.Out(s)) }

// answer is the call's own answer: the first time, it is charged for and computed.
func (c *call) answer() answer {
	if !c.answered {
		c.answered = true
		c.readClock() // again: a fault may have kept the call waiting past midnight
		if c.charge, c.charged = c.account.charge(c.now, c.assume); c.charged {
			c.own = c.to.answer(c, c.assume)
		} else {
			c.own = quotaExceeded(c.charge, c.assume)
		}
	}
	return c.own
}

// answerWith is the answer with what an effect puts in its place, which costs what an answer of the service does.
func (c *call) answerWith(e Effect) answer {
	c.replaced = e.Status != 0 || e.Body != nil
	a := replaced(c.answer(), e)
	if c.charged && !c.assume.charges(a.status) {
		c.charge.refund()
		c.charged = false
	}
	c.left = c.charge.left()
	return a
}

// takeBack makes it as if the call had not been answered.
func (c *call) takeBack() {
	if c.charged {
		c.charge.refund()
	}
	c.answered, c.charged = false, false
}

// head writes an answer's header.
func (c *call) head(h http.Header, a answer) {
	if a.passed != nil {
		maps.Copy(h, a.passed)
		return
	}
	a.header(h)
	if c.answered && c.to.hasLimits(c.assume) && (a.status < 300 || c.assume.HeadersOnErrors) {
		c.charge.setHeaders(h)
	}
}

// send writes the call's answer.
func (c *call) send(a answer) {
	c.head(c.w.Header(), a)
	c.finish(a)
	c.w.WriteHeader(a.status)
	_, _ = c.w.Write(a.body) // a client that left is not the server's failure
}

// begin notes that the call is under way.
func (c *call) begin() { c.span.arrived, c.span.arrivedTurn = time.Now(), c.journal.turns.Add(1) }

// finish records the call with all that becomes of it. It comes before the last of the answer is written:
// a client that then sends its next request never has two under way.
func (c *call) finish(a answer) {
	if n := c.r.ContentLength; c.admitted && c.op == OpValidar && !c.wasRead && 0 < n && n <= bodyMost && c.r.Header.Get("Expect") == "" {
		c.readOn() // it identifies the call when it is repeated; net/http would read it now in any case
	}
	c.span.ended, c.span.endedTurn = time.Now(), c.journal.turns.Add(1)
	c.record(a)
}

// end finishes a call that nothing else has finished: one that was cut, or hung.
func (c *call) end() {
	if c.span.endedTurn == 0 {
		c.broken, c.span.left = true, c.r.Context().Err() != nil
		c.finish(c.recorded)
	}
}
