package mockserver

import (
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Request is one request that the server got, with its answer, as the journal keeps it: without claveSol
// and API keys, which are taken out before it is stored.
type Request struct {
	N       int64     `json:"n"`    // 1 for the server's first request, in the order of arrival at the journal
	Rev     int64     `json:"rev"`  // the journal's revision in which it became what it is here; see Server.Changes
	Time    time.Time `json:"time"` // the server's clock when it came
	Op      Operation `json:"op,omitempty"`
	Matched bool      `json:"matched"` // it reached the operation: path, method and key were right
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Query   string    `json:"query,omitempty"` // the contract's parameters, decoded
	Key     string    `json:"key,omitempty"`   // a fingerprint: k_ and 8 hex digits, other ones in each process
	Agent   string    `json:"userAgent,omitempty"`
	RUC     string    `json:"ruc,omitempty"`  // the taxpayer looked up, or the issuer of the receipt
	Body    string    `json:"body,omitempty"` // of a receipt validation, redacted; else only its length and type
	Status  int       `json:"status"`         // 0 while it waits, and where no answer was sent
	Ms      float64   `json:"ms,omitempty"`   // milliseconds of real time from its arrival until the last of its answer was about to leave, or it was cut; 0 while it is under way
	Code    string    `json:"code,omitempty"` // the answer's, of an error
	Answer  string    `json:"answer,omitempty"`
	Cost    int       `json:"cost"`            // queries that it took from the quota: 1 or 0
	Left    int       `json:"left"`            // queries left after it; Unlimited where none is counted
	Conn    int64     `json:"conn,omitempty"`  // the number of its connection; 0 where it had none
	Reused  bool      `json:"reused"`          // not the first request of its connection
	Fault   string    `json:"fault,omitempty"` // the fault that met it
	SOL     SOLResult `json:"sol,omitempty"`   // what the tax authority made of the credentials

	// Replay is the N of an earlier request whose answer never came whole, and which this one repeats within a minute:
	// of the same key, method, path, query and body. It is what net/http's transport sends by itself when a reused
	// connection dies, and what a client's retry sends: the server cannot tell these apart, nor from somebody else
	// who asks the same. A request that was repeated once is not so again.
	Replay int64 `json:"replay,omitempty"`
}

// entry is a request as it is stored. What costs something is done when somebody reads it.
type entry struct {
	Request
	answer []byte
	header header
	sol    uint64 // the hash of the SOL user that it tried; 0 for none
	span
	words string       // of the route, with which the path begins
	known *redact.Keys // that are not in it
}

// hide takes keys out of an entry that the server did not know when it was kept.
func (e *entry) hide(keys *redact.Keys) {
	if e.known == keys {
		return
	}
	e.known = keys
	for _, text := range []*string{&e.Method, &e.Query, &e.Agent, &e.RUC, &e.Body, &e.Code, &e.Fault} {
		*text = keys.Out(*text)
	}
	e.Path = redact.Path(e.Path, e.words, *keys)
	e.answer = redact.Answer(e.answer, *keys)
}

// span is when a request was under way: from its arrival until the last of its answer was about to leave. The
// times are real ones (virtual in a testing/synctest bubble). The turns tell which came first where times do
// not: no two are the same.
type span struct {
	arrived, ended         time.Time
	arrivedTurn, endedTurn int64 // ended* are zero while it is under way
}

// requests are entries as they are shown.
func requests(entries []entry) []Request {
	list := make([]Request, len(entries))
	for i, e := range entries {
		list[i] = e.shown()
	}
	return list
}

func (e *entry) shown() Request {
	r := e.Request
	r.Answer = string(e.answer)
	if e.endedTurn > 0 {
		r.Ms = float64(e.ended.Sub(e.arrived).Microseconds()) / 1000
	}
	return r
}
