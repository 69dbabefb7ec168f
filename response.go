package fiscope

import (
	"net/http"
	"time"
)

// Source says where an answer came from.
type Source string

// The sources. "" means that nobody answered: the call was refused locally, or no answer came.
const (
	SourceService  Source = "service"  // the service answered this call, also with an error
	SourceShared   Source = "shared"   // the service answered another call's query, see WithCoalescing
	SourceCache    Source = "cache"    // a kept answer, also the Store's: no query was spent, see WithCache
	SourceStale    Source = "stale"    // a kept answer that has expired, because the service is away: see CachePolicy
	SourceRespaldo Source = "registry" // a Respaldo, because the service is away
)

// fallbacks are the sources that answer while the service is away: what the log says of such a call, and what a source
// that can fail is called.
var fallbacks = map[Source]struct{ message, noun string }{
	SourceStale:    {message: "fiscope: answered with a stale answer"},
	SourceRespaldo: {message: "fiscope: answered from the Respaldo", noun: "the Respaldo"},
}

// Response is what is known about a call besides its result: see [WithResponse]. If Source is SourceStale or
// SourceRespaldo, StatusCode, Header, Body, RateLimit and Attempts describe the failure of the service; they are zero
// if it was not asked.
type Response struct {
	StatusCode int           // of the last answer; 0 if none came
	Header     http.Header   // of the last answer; nil if none came
	Body       []byte        // of the last answer, at most 1 MiB; nil if none came or it was cached. Never log it
	RateLimit  *RateLimit    // from the last answer's headers; nil without them
	Attempts   int           // 0 if it was refused locally
	Duration   time.Duration // from the call to its result, waits included; 0 for a cached answer
	Warnings   []string      // what was odd in an accepted answer, in English
	Source     Source        // where the result, or the error, came from; "" if nobody answered
	AsOf       time.Time     // when the service gave the result or NOT_FOUND; of a Respaldo, midnight in Lima of its date; zero if unknown, and for other errors
}
