package mockserver

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/mockserver/internal/clock"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// bodyMost is the largest body taken; the seven fields of a receipt validation need some two hundred bytes.
const bodyMost = 64 << 10

// call is one request on its way through the server: what came, and what has become of it so far.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	clock   *clock.Clock
	now     time.Time // when it came, and from the charge on, when it was charged: no answer straddles midnight
	data    *dataset
	journal *journal
	closing <-chan struct{} // closed when the server begins to close: nothing waits any longer

	op      Operation    // "" when no route has the path
	words   string       // of its route, with which its path begins; "" for no route
	ruc     string       // of a lookup's path; of a validation, the issuer's once its fields are right
	key     string       // as it came
	known   *redact.Keys // the server's keys when it came
	keys    redact.Keys  // which no text may show: known, and key
	account *account     // nil when the key is missing or unknown

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
	replay    int64  // the number of the call that it repeats; see Request.Replay
	solResult SOLResult
	solUser   uint64 // who tried, hashed; 0 for nobody

	wasRead   bool // the body
	admitted  bool // path, method and key are right
	charged   bool // it took one query from the quota ...
	charge    charge
	counted   bool // the journal knows of that
	sunatDown bool // a fault makes the tax authority not respond to it
	broken    bool // its answer does not come whole
}

// readClock takes the time of the server's clock as the call's, and as that of its answer.
func (c *call) readClock() {
	c.now = c.clock.Now()
	c.w.Header()["Date"] = c.clock.DateHeader(c.now)
}

// readBody reads the request's body, the first time it is asked for.
func (c *call) readBody() ([]byte, error) {
	if !c.wasRead {
		c.wasRead = true
		c.body, c.bodyErr = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, bodyMost))
		c.redacted = redact.Body(c.r.Header.Get("Content-Type"), len(c.body))
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

// query decodes the query string, or returns the refusal of what net/url would drop in silence, of bytes
// that are not UTF-8, and of a parameter of the operation given twice, of which the service would take one
// that the caller may not mean. Parameters that the operation does not have are ignored.
func (c *call) query(params ...string) (url.Values, answer) {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refusal(http.StatusBadRequest, codeBadQuery,
			"la cadena de consulta no se puede leer: escriba %% como %%25, & como %%26 y ; como %%3B en los valores (RFC 3986)")
	}
	for _, name := range params {
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

// send writes the call's answer.
func (c *call) send(a answer) {
	c.finish(a)
	a.write(c.w)
}

// begin notes that the call is under way.
func (c *call) begin() {
	c.span.arrived, c.span.arrivedTurn = time.Now(), c.journal.turns.Add(1)
}

// finish records the call with all that becomes of it. It comes before the last of the answer is written:
// a client that then sends its next request never has two under way.
func (c *call) finish(a answer) {
	c.span.ended, c.span.endedTurn = time.Now(), c.journal.turns.Add(1)
	c.record(a)
}

// end finishes a call that nothing else has finished: one that was cut, or hung.
func (c *call) end() {
	if c.span.endedTurn == 0 {
		c.finish(c.recorded)
		c.wasCut()
	}
}

// record puts the call into the journal, or what has become of it since: with the zero answer while there
// is none. It comes before the answer is written, so that a client that has its answer finds the request
// in the journal.
func (c *call) record(a answer) {
	c.recorded = a
	c.findRepeated()
	var e entry
	if c.journal.limit > 0 {
		kept := a.body
		if a.kept != nil {
			kept = a.kept
		}
		e = entry{c.request(a), redact.Answer(kept, c.keys), headerOf(c.r), c.solUser, c.span, c.words, c.known}
	} else {
		e.N, e.Key = c.n, c.fingerprint()
	}
	var of *ring
	if c.account != nil {
		of = &c.account.seen
	}
	spent := 0
	if c.charged && !c.counted {
		spent, c.counted = 1, true
	}
	wiped := c.n > 0 && c.charged && !c.charge.stands()
	before := c.n
	c.n = c.journal.record(of, &e, spent, wiped)
	if wiped && before != c.n {
		c.charged = false
	}
}

// question is what a call asks, and with which key, hashed.
func (c *call) question() uint64 {
	var h maphash.Hash
	h.SetSeed(headerSeed)
	for _, part := range [...]string{c.key, c.r.Method, c.r.URL.Path, c.r.URL.RawQuery} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	if c.op == OpValidar { // another one's body is not read, unless a fault does
		_, _ = h.Write(c.body)
	}
	return h.Sum64()
}

// wasCut notes that the call's answer does not come whole.
func (c *call) wasCut() {
	if c.broken || c.journal.limit == 0 {
		return
	}
	c.broken = true
	c.journal.broken.add(brokenCall{c.question(), c.fingerprint(), c.n, time.Now()})
}

// findRepeated notes which call this one repeats, if it does.
func (c *call) findRepeated() {
	unread := c.op == OpValidar && !c.wasRead // what it asks is not known yet
	if c.replay == 0 && !c.broken && !unread && c.journal.broken.any.Load() {
		c.replay = c.journal.broken.repeated(c.question(), time.Now())
	}
}

// fingerprint is that of the call's key, "" without one.
func (c *call) fingerprint() string {
	switch {
	case c.account != nil:
		return c.account.id
	case c.key != "":
		return redact.Fingerprint(c.key)
	}
	return ""
}

// request is the call as the journal keeps it: without claves and keys.
func (c *call) request(a answer) Request {
	r := Request{
		N:       c.n,
		Time:    c.came,
		Op:      c.op,
		Matched: c.admitted,
		Method:  redact.Text(c.r.Method, c.keys),
		Path:    redact.Path(c.r.URL.Path, c.words, c.keys),
		Query:   redact.Query(c.r.URL, c.keys),
		Key:     c.fingerprint(),
		Agent:   redact.Text(c.r.UserAgent(), c.keys),
		Body:    c.redacted,
		Status:  a.status,
		Code:    c.keys.Out(a.code),
		Left:    c.left,
		Fault:   c.keys.Out(c.fault),
		SOL:     c.solResult,
		Replay:  c.replay,
	}
	if c.charged {
		r.Cost = 1
	}
	if isRUC(c.ruc) { // what else the path has may be anything
		r.RUC = c.keys.Out(c.ruc)
	}
	r.Conn, r.Reused = c.connection()
	return r
}

// connection returns the number of the call's connection and whether an earlier request came on it.
func (c *call) connection() (number int64, reused bool) {
	conn, _ := c.r.Context().Value(connectionKey{}).(*connection)
	if conn == nil {
		return 0, false
	}
	if c.nth == 0 {
		c.nth = conn.requests.Add(1)
	}
	return conn.number, c.nth > 1
}

// connectionKey finds the connection in a request's context; see [Server.ConnContext].
type connectionKey struct{}

// connection is one connection of a server.
type connection struct {
	number   int64
	requests atomic.Int64
}
