package mockserver

import (
	"slices"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Request is a request with its answer, without claves and keys.
type Request struct {
	N               int64               `json:"n"`    // 1 for the server's first request, in the order of arrival at the journal
	Rev             int64               `json:"rev"`  // the journal's revision of its last change; see Control.Changes
	Time            time.Time           `json:"time"` // the server's clock on arrival
	Op              Operation           `json:"op,omitempty"`
	Matched         bool                `json:"matched"` // it reached the operation: path, method and key were right, and a recording has its question
	Method          string              `json:"method"`
	Path            string              `json:"path"`
	Query           string              `json:"query,omitempty"` // the operation's parameters, decoded, and the names of any others
	Key             string              `json:"key,omitempty"`   // a fingerprint: k_ and 8 hex digits, which differ in each process
	Agent           string              `json:"userAgent,omitempty"`
	RUC             string              `json:"ruc,omitempty"`            // the taxpayer looked up, or the issuer of the receipt
	RequestHeaders  map[string][]string `json:"requestHeaders,omitempty"` // without secrets: X-API-KEY as a fingerprint
	ResponseHeaders map[string][]string `json:"responseHeaders,omitempty"`
	Body            string              `json:"body,omitempty"` // of a receipt validation, redacted; of any other only length and type
	Status          int                 `json:"status"`         // 0 while it waits, and if no answer was sent
	Ms              float64             `json:"ms,omitempty"`   // milliseconds, in real time, until the end of its answer; 0 while it is in flight
	Code            string              `json:"code,omitempty"` // the answer's error code
	Answer          string              `json:"answer,omitempty"`
	Cost            int                 `json:"cost"`               // queries that it cost: 1 or 0
	Left            int                 `json:"left"`               // queries left after it; Unlimited without a limit
	Conn            int64               `json:"conn,omitempty"`     // the number of its connection; 0 if it had none
	Reused          bool                `json:"reused"`             // its connection had an earlier request
	Fault           string              `json:"fault,omitempty"`    // the fault that met it
	SOL             SOLResult           `json:"sol,omitempty"`      // the tax authority's verdict on the credentials
	Upstream        string              `json:"upstream,omitempty"` // "asked", "strange" for an answer that breaks the contract, "" if no real service was asked
	Broken          bool                `json:"broken,omitempty"`   // its answer was not sent completely
	RetryOf         int64               `json:"retryOf,omitempty"`  // the N of the first attempt, if this is a retry: see AttemptHeader
	Attempt         int                 `json:"attempt,omitempty"`  // 2 for the second attempt; 0 for the first
	Replay          int64               `json:"replay,omitempty"`   // the N of the previous attempt, if its answer was not sent completely
}

// entry is a stored request. Costly work is left to its readers.
type entry struct {
	Request
	text     string // see call.text
	answer   []byte
	sent     []string // the headers, from redact.Headers
	answered []string
	question uint64 // hash of what it asks; 0 while not known
	said     int    // the attempt according to its client
	repeated bool   // another call is its next attempt
	sol      uint64 // hash of the SOL user that it tried; 0 for none
	span
	known *redact.Keys // keys that it does not contain ...
	later bool         // ... once they are hidden
}

// hide hides the keys that the server knew when the entry was stored, also if they were deleted since, and those that it
// knows now.
func (e *entry) hide(keys *redact.Keys) {
	if e.later {
		e.later = false
		e.without(*e.known)
	}
	if e.known != keys {
		e.known = keys
		e.without(*keys)
	}
}

func (e *entry) without(keys redact.Keys) {
	for _, text := range []*string{&e.text, &e.Method, &e.Path, &e.Query, &e.Agent, &e.RUC, &e.Body, &e.Code, &e.Fault} {
		*text = keys.Out(*text)
	}
	for _, pairs := range []*[]string{&e.sent, &e.answered} {
		*pairs = slices.Clone(*pairs) // readers share the old ones
		for i := range *pairs {
			(*pairs)[i] = keys.Out((*pairs)[i])
		}
	}
	e.answer = redact.Answer(e.answer, keys)
}

// span is when a request was in flight, in real time: from its arrival until the end of its answer is ready to send. The
// turns order equal times; each is unique.
type span struct {
	arrived, ended         time.Time
	arrivedTurn, endedTurn int64 // ended* are zero while it is in flight
	left                   bool  // it ended because its client left
}

// requests returns entries as they are shown.
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
		r.Ms = float64(max(e.ended.Sub(e.arrived).Microseconds(), 1)) / 1000 // 0 means in flight
	}
	return r
}
