package mockserver

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// record adds the call to the journal, or updates its entry; a is zero while there is no answer. It comes before the
// answer is written, so that a client with an answer finds its request in the journal.
func (c *call) record(a answer) {
	c.recorded = a
	var e entry
	if c.journal.limit > 0 {
		kept := a.body
		if a.kept != nil {
			kept = a.kept
		}
		if c.r.Method == http.MethodHead {
			kept = nil
		}
		keys, later := c.keys, !c.others
		if later {
			keys = keys.Later()
		}
		e = entry{
			Request: c.request(a, keys), text: c.shownText(keys), answer: redact.Answer(kept, keys), later: later,
			sent:     redact.Headers(append(make([]string, 0, 2+2*len(c.r.Header)), "Host", redact.Text(c.r.Host, keys)), c.r.Header, keys),
			question: c.question(), said: attemptOf(c.r), sol: c.solUser, span: c.span, words: c.words, known: c.known,
		}
		if a.status != 0 {
			e.answered = redact.Headers(make([]string, 0, 2*len(c.w.Header())), c.w.Header(), keys)
		}
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
	c.retryOf, c.attempt, c.replay = e.RetryOf, e.Attempt, e.Replay
	if wiped && before != c.n {
		c.charged = false
	}
}

// shownText returns the call's text as the journal stores it.
func (c *call) shownText(keys redact.Keys) string {
	if c.op == OpValidar { // the series may be a misplaced clave
		return receipt([]byte(c.redacted))
	}
	return redact.Text(c.text(), keys)
}

// question returns a hash of what the call asks and of its client; 0 while it is not known.
func (c *call) question() uint64 {
	if !c.admitted || c.op == OpValidar && !c.wasRead {
		return 0
	}
	sum := uint64(0)
	for _, part := range [...]string{c.key, c.r.UserAgent(), c.r.Method, c.r.URL.Path, c.r.URL.RawQuery} {
		sum = sum*31 + maphash.String(hashSeed, part)
	}
	if c.op == OpValidar { // other bodies are not read, except by a fault
		sum = sum*31 + maphash.Bytes(hashSeed, c.body)
	}
	return sum | 1
}

// fingerprint returns the fingerprint of the call's key, "" without one.
func (c *call) fingerprint() string {
	switch {
	case c.account != nil:
		return c.account.id
	case c.key != "":
		return redact.Fingerprint(c.key)
	}
	return ""
}

// params returns the names of the operation's query parameters; without an operation, of all.
func (c *call) params() []string {
	if c.to == nil {
		return []string{"razonSocial", "limit", "fecha"}
	}
	return c.to.params
}

// request returns the call as the journal stores it: without claves and keys.
func (c *call) request(a answer, keys redact.Keys) Request {
	r := Request{
		N:       c.n,
		Time:    c.came,
		Op:      c.op,
		Matched: c.admitted && !c.unrecorded,
		Method:  redact.Text(c.r.Method, keys),
		Path:    redact.Path(c.r.URL.Path, c.words, keys),
		Query:   redact.Query(c.r.URL, c.params(), keys),
		Key:     c.fingerprint(),
		Agent:   redact.Text(c.r.UserAgent(), keys),
		Body:    c.redacted,
		Status:  a.status,
		Code:    c.keys.Out(a.code),
		Left:    c.left,
		Fault:   c.keys.Out(c.fault),
		SOL:     c.solResult,
		Broken:  c.broken,
		RetryOf: c.retryOf,
		Attempt: c.attempt,
		Replay:  c.replay,

		Upstream: c.asked,
	}
	if c.charged {
		r.Cost = 1
	}
	if isRUC(c.ruc) { // anything else in the path may be secret
		r.RUC = redact.Text(c.ruc, keys)
	}
	r.Conn, r.Reused = c.connection()
	return r
}

// connection returns the number of the call's connection, and whether it had an earlier request.
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

// connectionKey is the context key of the connection; see [Server.ConnContext].
type connectionKey struct{}

// connection is a connection to the server.
type connection struct {
	number   int64
	requests atomic.Int64
}
