package mockserver

import (
	"slices"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Request is a request with its answer, without claves and keys.
type Request struct {
	N               int64               `json:"n"`    // 1 for the server's first request, in the order of arrival at the journal
	Rev             int64               `json:"rev"`  // the journal's revision in which it became what it is here; see Server.Changes
	Time            time.Time           `json:"time"` // the server's clock when it came
	Op              Operation           `json:"op,omitempty"`
	Matched         bool                `json:"matched"` // it reached the operation: path, method and key were right
	Method          string              `json:"method"`
	Path            string              `json:"path"`
	Query           string              `json:"query,omitempty"` // the parameters that were read, decoded, and the names of the others
	Key             string              `json:"key,omitempty"`   // a fingerprint: k_ and 8 hex digits, other ones in each process
	Agent           string              `json:"userAgent,omitempty"`
	RUC             string              `json:"ruc,omitempty"`            // the taxpayer looked up, or the issuer of the receipt
	RequestHeaders  map[string][]string `json:"requestHeaders,omitempty"` // without secrets: X-API-KEY as a fingerprint
	ResponseHeaders map[string][]string `json:"responseHeaders,omitempty"`
	Body            string              `json:"body,omitempty"` // of a receipt validation, redacted; else only its length and type
	Status          int                 `json:"status"`         // 0 while it waits, and if no answer was sent
	Ms              float64             `json:"ms,omitempty"`   // milliseconds, in real time, until the end of its answer; 0 while it is under way
	Code            string              `json:"code,omitempty"` // the answer's, of an error
	Answer          string              `json:"answer,omitempty"`
	Cost            int                 `json:"cost"`               // queries that it took from the quota: 1 or 0
	Left            int                 `json:"left"`               // queries left after it; Unlimited if none is counted
	Conn            int64               `json:"conn,omitempty"`     // the number of its connection; 0 if it had none
	Reused          bool                `json:"reused"`             // not the first request of its connection
	Fault           string              `json:"fault,omitempty"`    // the fault that met it
	SOL             SOLResult           `json:"sol,omitempty"`      // what the tax authority made of the credentials
	Upstream        string              `json:"upstream,omitempty"` // "asked", or "strange" for an answer that breaks the contract; "" if no real service was asked
	Broken          bool                `json:"broken,omitempty"`   // its answer did not come whole
	RetryOf         int64               `json:"retryOf,omitempty"`  // the N of the first attempt, of which this is another one: see AttemptHeader
	Attempt         int                 `json:"attempt,omitempty"`  // 2 for the second one; 0 for the first
	Replay          int64               `json:"replay,omitempty"`   // the N of the attempt before, if its answer did not come whole
}

// entry is a request as it is stored. What costs something is done when somebody reads it.
type entry struct {
	Request
	answer   []byte
	sent     []string // the headers, as redact.Headers keeps them
	answered []string
	question uint64 // what it asks, hashed; 0 while that is not known
	said     int    // the attempt that its client says it is
	repeated bool   // another call is its next attempt
	sol      uint64 // the hash of the SOL user that it tried; 0 for none
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
	for _, pairs := range []*[]string{&e.sent, &e.answered} {
		*pairs = slices.Clone(*pairs) // readers have the old ones
		for i := range *pairs {
			(*pairs)[i] = keys.Out((*pairs)[i])
		}
	}
	e.Path = redact.Path(e.Path, e.words, *keys)
	e.answer = redact.Answer(e.answer, *keys)
}

// span is when a request was under way, in real time: from its arrival until the last of its answer was about to leave. The
// turns say which came first if the times are equal: no two turns are.
type span struct {
	arrived, ended         time.Time
	arrivedTurn, endedTurn int64 // ended* are zero while it is under way
	left                   bool  // it ended since its client left
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
	r.RequestHeaders, r.ResponseHeaders = redact.Map(e.sent), redact.Map(e.answered)
	if e.endedTurn > 0 {
		r.Ms = float64(e.ended.Sub(e.arrived).Microseconds()) / 1000
	}
	return r
}
