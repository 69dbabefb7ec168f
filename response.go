package fiscope

import (
	"net/http"
	"time"
)

// Response is what is known of a call besides its result: see [WithResponse].
type Response struct {
	StatusCode int           // of the last answer; 0 where none came
	Header     http.Header   // of the last answer, without credentials; nil where none came
	RateLimit  *RateLimit    // as the last answer's headers said; nil where none came
	Attempts   int           // how many times it was tried; 0 when refused locally
	Duration   time.Duration // from the call to its result, waits included
	Warnings   []string      // what was odd in an answer that was accepted all the same, in English
	FromCache  bool          // no query was spent: the answer is an earlier one, see WithCache
	Age        time.Duration // how old an answer from the cache is; 0 for one of the service
	Stale      bool          // it is older than it should be, since the service cannot be asked: see CachePolicy
	Coalesced  bool          // the query was another call's, see WithCoalescing
}

// report tells how the call ended: to the ledger, and in the caller's Response.
func (c *call) report(err error) {
	c.ended(err)
	if c.settings.learned != nil {
		*c.settings.learned = learned{body: c.answer.body, doubtful: c.answer.contradicted}
	}
	if c.settings.response == nil {
		return
	}
	*c.settings.response = Response{
		StatusCode: c.answer.status,
		Header:     c.scrubber().header(c.answer.header),
		RateLimit:  c.answer.rateLimit.copy(),
		Attempts:   c.attempts,
		Duration:   time.Since(c.start),
		Warnings:   c.answer.warnings,
	}
}

// header returns a copy without the secrets that the server echoed.
func (s scrubber) header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		for _, value := range values {
			clean.Add(s.redact(name), s.redact(value))
		}
	}
	return clean
}
