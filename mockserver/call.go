package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// call is one request and its progress through the server.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	clock   *clock
	now     time.Time // when it arrived; once charged, when it was charged, so that no answer straddles midnight
	data    *dataset
	journal *journal
	closing <-chan struct{} // closed when the server begins to close, which ends all waits

	assume  *Assumptions // the same for the whole call
	to      *route       // nil for none
	op      Operation    // "" if no route has the path
	words   string       // of its route, at the beginning of its path; "" for no route
	ruc     string       // of a lookup's path; of a validation, the issuer's once its fields are valid
	key     string       // as sent
	known   *redact.Keys // the server's keys on arrival
	keys    redact.Keys  // to hide in all texts: known, and key
	others  bool         // keys has others than known
	account *account     // nil if the key is missing or unknown

	recording  *recording // nil for none
	asked      string     // see Request.Upstream
	unrecorded bool       // the recording lacks what it asks

	body    []byte // once read
	bodyErr error

	// For the journal.
	came      time.Time
	n         int64  // its number, once recorded
	nth       int64  // its number on its connection
	span      span   // when it was in flight
	recorded  answer // the last answer recorded
	left      int    // queries left after it
	redacted  string // its body, once read
	fault     string // the name of the fault that met it
	retryOf   int64  // see Request, also for attempt and replay
	attempt   int
	replay    int64
	solResult SOLResult
	solUser   uint64 // the hash of the SOL user that it tried; 0 for none

	wasRead   bool // the body was read
	admitted  bool // path, method and key are right
	answered  bool // own is its answer, which was charged or refused
	own       answer
	charged   bool // it cost one query ...
	charge    charge
	counted   bool // ... and the journal has counted it
	sunatDown bool // a fault takes the tax authority down for it
	broken    bool // its answer was not sent completely
	replaced  bool // a fault's answer replaces its own
}

// hide hides one more secret in the call's texts.
func (c *call) hide(secret string) { c.keys, c.others = c.keys.And(secret), true }

// readClock sets the time of the call and of its answer.
func (c *call) readClock() {
	c.now = c.clock.now()
	c.w.Header()["Date"] = c.clock.dateHeader(c.now)
}

// readBody reads the request's body once.
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

// readOn reads the rest of the request's body, and reports whether the client is still there: net/http notices that a
// client left only after the body was read.
func (c *call) readOn() bool {
	if c.r.Body == nil || c.r.Body == http.NoBody {
		return true
	}
	read, watch := make(chan struct{}), sync.WaitGroup{}
	watch.Go(func() { // a client that stops sending must not block Close
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

// arrived reads the body and reports whether it arrived, even if it is too large.
func (c *call) arrived() bool {
	_, err := c.readBody()
	tooLarge := (*http.MaxBytesError)(nil)
	return err == nil || errors.As(err, &tooLarge)
}

// query decodes the query string. It refuses parts that net/url would drop silently, bytes that are not UTF-8, and a
// repeated parameter of the operation. Unknown parameters are ignored.
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

// isAbout reports whether a call is about a taxpayer: a lookup's, or either side of a validation.
func (c *call) isAbout(ruc string) bool {
	switch c.op {
	case OpConsultar:
		return c.ruc == ruc
	case OpValidar:
		var sides struct{ RUCEmisor, RUCSolicitante any }
		body, _ := c.readBody()
		_ = json.Unmarshal(body, &sides) // invalid JSON matches nothing
		return sides.RUCEmisor == ruc || sides.RUCSolicitante == ruc
	}
	return false
}

// text returns what the call asks for: a RUC, a search's text, a rate's date (today's if it has none), or a receipt.
func (c *call) text() string {
	switch query := c.r.URL.Query; c.op {
	case OpConsultar:
		return c.ruc
	case OpBuscar:
		return query().Get("razonSocial")
	case OpTipoCambio:
		return cmp.Or(query().Get("fecha"), fiscope.FechaEnLima(c.now).String())
	case OpValidar:
		body, _ := c.readBody()
		return receipt(body)
	}
	return ""
}

// receipt returns the series and number in a validation's body, such as F001-124; "" for none.
func receipt(body []byte) string {
	var of struct {
		Serie  string
		Numero json.Number
	}
	_ = json.Unmarshal(body, &of) // other types are no series and no number
	return strings.Trim(of.Serie+"-"+of.Numero.String(), "-")
}

// quoted formats a piece of the request line for an error text. It hides keys, also another client's, before it cuts.
func (c *call) quoted(s string) string { return quoted(c.keys.Out(s)) }

// answer returns the call's own answer. The first time, it charges the call and computes the answer.
func (c *call) answer() answer {
	if !c.answered {
		c.answered = true
		c.readClock() // again: a fault may have delayed the call past midnight
		if a, ok := c.real(); ok {
			c.own = a
		} else if c.charge, c.charged = c.account.charge(c.now, c.assume); c.charged {
			c.own = c.to.answer(c, c.assume)
		} else {
			c.own = quotaExceeded(c.charge, c.assume)
		}
	}
	return c.own
}

// answerWith returns the effect's answer, at the same cost as an answer of the service.
func (c *call) answerWith(e Effect) answer {
	c.replaced = e.Status >= 300 || e.Body != nil
	a := replaced(c.answer(), e)
	if c.charged && !c.assume.charges(a.status) {
		c.charge.refund()
		c.charged = false
	}
	c.left = c.charge.left()
	return a
}

// undo undoes the call's answer and its charge.
func (c *call) undo() {
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
	c.writeHead(a.status)
	_, _ = c.w.Write(a.body) // a client that left is not the server's failure
}

// writeHead begins the answer. On the wire the names are spelled as in docs/contract.md, 8, for clients that compare bytes;
// without one, as [http.Header.Get] finds them.
func (c *call) writeHead(status int) {
	if h := c.w.Header(); c.r.Context().Value(http.ServerContextKey) != nil {
		for i, name := range rateLimitHeaders {
			if values := h[name]; values != nil {
				delete(h, name)
				h[rateLimitSpelled[i]] = values
			}
		}
	}
	c.w.WriteHeader(status)
}

// begin records that the call is in flight.
func (c *call) begin() { c.span.arrived, c.span.arrivedTurn = time.Now(), c.journal.turns.Add(1) }

// finish records the call with its final state, before the last of the answer is written: a client that then sends its
// next request never has two in flight.
func (c *call) finish(a answer) {
	if n := c.r.ContentLength; c.admitted && c.op == OpValidar && !c.wasRead && 0 < n && n <= bodyMost && c.r.Header.Get("Expect") == "" {
		c.readOn() // the body identifies a repetition; net/http would read it now anyway
	}
	c.span.ended, c.span.endedTurn = time.Now(), c.journal.turns.Add(1)
	c.record(a)
}

// end finishes a call that was cut off or hung.
func (c *call) end() {
	if c.span.endedTurn == 0 {
		c.broken, c.span.left = true, c.r.Context().Err() != nil
		c.finish(c.recorded)
	}
}
