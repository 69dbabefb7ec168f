package fiscope

import (
	"bytes"
	"net/http"
	"slices"
	"time"
)

// Response is what is known about a call besides its result: see [WithResponse].
type Response struct {
	StatusCode    int           // of the last answer; 0 if none came
	Header        http.Header   // of the last answer; nil if none came
	Body          []byte        // of the last answer, at most 1 MiB; nil if none came or it was cached. Never log it
	RateLimit     *RateLimit    // from the last answer's headers; nil without them
	Attempts      int           // 0 if it was refused locally
	Duration      time.Duration // from the call to its result, waits included
	Warnings      []string      // what was odd in an accepted answer, in English
	FromCache     bool          // no query was spent, see WithCache
	Age           time.Duration // of an answer from the cache; 0 for one from the service
	Stale         bool          // older than its lifetime, because the service is away: see CachePolicy
	Coalesced     bool          // the query was another call's, see WithCoalescing
	FromRespaldo  bool          // a Respaldo answered: the other fields describe the service's failure
	FechaRespaldo Fecha         // of its data; zero if unknown
}

// copy returns a deep copy.
func (r Response) copy() Response {
	r.Header, r.Body, r.RateLimit, r.Warnings = r.Header.Clone(), bytes.Clone(r.Body), r.RateLimit.copy(), slices.Clone(r.Warnings)
	return r
}
