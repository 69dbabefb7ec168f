package mockserver

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// record is what the journal keeps of a call, beside its request and its cost.
type record struct {
	journal *journal
	linked  // its entry, once recorded
	span
	remark
	came    time.Time // by the server's clock
	nth     int64     // its number on its connection
	last    answer    // the last answer recorded
	left    int       // queries left after it
	fault   string    // the name of the fault that met it
	counted bool      // the journal has counted its cost
	broken  bool      // its answer was not sent completely
}

// remark is what the journal says about an answer beyond the answer itself.
type remark struct {
	sol        SOLResult
	user       uint64 // the hash of the SOL user that it tried; 0 for none
	upstream   string // see Request.Upstream
	unrecorded bool   // the recording lacks what it asks
}

// begin records that the call is in flight.
func (k *record) begin() { k.arrived, k.arrivedTurn = time.Now(), k.journal.turns.Add(1) }

// end records that it is not any more.
func (k *record) end() { k.ended, k.endedTurn = time.Now(), k.journal.turns.Add(1) }

// write adds the call to the journal, or updates its entry.
func (k *record) write(q *request, cost *charge, now time.Time, a answer) {
	k.last = a
	e := entry{Request: Request{N: k.n, Key: q.fingerprint()}}
	if k.journal.limit > 0 {
		keys := q.keys
		if e.later = !q.others; e.later {
			keys = keys.Later()
		}
		k.fill(&e, q, keys, now)
		if cost.paid {
			e.Cost = 1
		}
		e.Status, e.Code = a.status, q.keys.Out(a.code)
		if a.status != 0 {
			e.answered = redact.Headers(e.sent[len(e.sent):], q.w.Header(), keys) // in one block
		}
		switch {
		case q.r.Method == http.MethodHead:
		case a.kept != nil:
			e.answer = redact.Answer(a.kept, keys)
		default:
			e.answer = redact.Answer(a.body, keys)
		}
	}
	var of *ring
	if q.account != nil {
		of = &q.account.seen
	}
	spent := 0
	if cost.paid && !k.counted {
		spent, k.counted = 1, true
	}
	wiped, before := k.n > 0 && cost.paid && !cost.stands(), k.n
	k.linked = k.journal.record(of, &e, spent, wiped)
	if wiped && before != k.n {
		cost.paid = false
	}
}

// fill sets what the journal keeps of a request: without claves and keys, unless they are hidden later.
func (k *record) fill(e *entry, q *request, keys redact.Keys, now time.Time) {
	e.known, e.question, e.said, e.span, e.sol = q.known, q.question(), attemptOf(q.r), k.span, k.user
	if q.op == OpValidar { // the series may be a misplaced clave
		e.text = receipt([]byte(q.redacted))
	} else {
		e.text = redact.Text(q.text(now), keys)
	}
	e.sent = append(make([]string, 0, 2+2*len(q.r.Header)+2*len(q.w.Header())), "Host", redact.Text(q.r.Host, keys))
	e.sent = redact.Headers(e.sent, q.r.Header, keys)
	r := &e.Request
	r.Time, r.Op, r.Matched, r.Body = k.came, q.op, q.admitted && !k.unrecorded, q.redacted
	r.Method, r.Path = redact.Text(q.r.Method, keys), redact.Text(q.r.URL.Path, keys)
	r.Query, r.Agent = redact.Query(q.r.URL, q.params(), keys), redact.Text(q.r.UserAgent(), keys)
	r.Left, r.Fault, r.SOL, r.Upstream, r.Broken = k.left, q.keys.Out(k.fault), k.sol, k.upstream, k.broken
	r.RetryOf, r.Attempt, r.Replay = k.retryOf, k.attempt, k.replay
	if isRUC(q.ruc) { // anything else in the path may be secret
		r.RUC = redact.Text(q.ruc, keys)
	}
	if conn, _ := q.r.Context().Value(connectionKey{}).(*connection); conn != nil {
		if k.nth == 0 {
			k.nth = conn.requests.Add(1)
		}
		r.Conn, r.Reused = conn.number, k.nth > 1
	}
}

// connectionKey is the context key of the connection; see [Control.ConnContext].
type connectionKey struct{}

// connection is a connection to the server.
type connection struct {
	number   int64
	requests atomic.Int64
}
