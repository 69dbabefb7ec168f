package fiscope

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/quota"
)

// Event is one attempt, or one call that was answered without any. It holds no URL, body, RUC or name.
type Event struct {
	Op         Operation
	Attempt    int           // from 1 on; 0 where none was made
	StatusCode int           // 0 where no answer came
	Code       string        // of an error answer, as in NOT_FOUND
	Duration   time.Duration // of the attempt; of the call where none was made
	RateLimit  *RateLimit    // as this answer's headers said; nil where none came
	Delivery   Delivery      // whether the service can have received it
	Avoided    Avoided       // why no attempt was made; "" where one was
}

// Avoided says why a call spent no query.
type Avoided string

// The reasons.
const (
	AvoidedInvalid   Avoided = "invalid"     // the input breaks a rule
	AvoidedQuota     Avoided = "quota"       // the quota is known to be spent, the rest is kept in reserve, or the Store cannot say
	AvoidedSOL       Avoided = "sol"         // the SOL credential was refused before
	AvoidedOutOfTime Avoided = "out of time" // the context ended before the first attempt
	AvoidedCached    Avoided = "cached"      // an earlier answer served, see WithCache
	AvoidedCoalesced Avoided = "coalesced"   // it shared another call's query, whatever came of it, see WithCoalescing
	avoidedNot       Avoided = ""
)

// avoidedBy returns why a call that made no attempt ended with err.
func avoidedBy(err error) Avoided {
	switch {
	case errors.Is(err, ErrSOLCredentialsBlocked):
		return AvoidedSOL
	case errors.Is(err, ErrQuotaExceeded):
		return AvoidedQuota
	case errors.Is(err, ErrInvalidRequest):
		return AvoidedInvalid
	case errors.Is(err, quota.ErrAway):
		return AvoidedQuota
	}
	return AvoidedOutOfTime
}

func (e Event) level() slog.Level {
	switch e.StatusCode {
	case http.StatusOK, http.StatusBadRequest, http.StatusNotFound:
		return slog.LevelDebug
	}
	switch e.Avoided {
	case AvoidedInvalid, AvoidedCached, AvoidedCoalesced:
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// LogValue returns a group of what is known.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("op", string(e.Op)), slog.Int("attempt", e.Attempt), slog.Duration("duration", e.Duration), slog.String("delivery", e.Delivery.String())}
	if e.StatusCode != 0 {
		attrs = append(attrs, slog.Int("status", e.StatusCode))
	}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", e.Code))
	}
	if e.Avoided != avoidedNot {
		attrs = append(attrs, slog.String("avoided", string(e.Avoided)))
	}
	if e.RateLimit != nil {
		attrs = append(attrs, slog.String("quota", e.RateLimit.String()))
	}
	return slog.GroupValue(attrs...)
}

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

// Stats is what a Client did since it was made.
type Stats struct {
	Calls    int64             // operations called
	Attempts int64             // attempts made for them
	Retries  int64             // attempts after a call's first
	Sent     int64             // requests that were written to the network, as far as the transport tells: what may have been charged
	Avoided  map[Avoided]int64 // calls that spent no query, by reason
}

// observer counts what a client does, and tells the caller's function and logger.
type observer struct {
	tell   func(Event)  // nil for none
	logger *slog.Logger // nil for none

	calls, attempts, retries, sent atomic.Int64
	invalid, quota, sol, outOfTime atomic.Int64
	cached, coalesced              atomic.Int64
}

// watching reports whether anybody is told of events.
func (o *observer) watching() bool { return o.tell != nil || o.logger != nil }

// event tells of an attempt, or of a call that made none.
func (o *observer) event(ctx context.Context, e Event) {
	if o.tell != nil {
		o.tell(e)
	}
	if o.logger != nil {
		o.logger.LogAttrs(ctx, e.level(), "fiscope", slog.Any("event", e))
	}
}

// attempt counts an attempt by its number within its call, and how often it was written.
func (o *observer) attempt(number, written int) {
	o.attempts.Add(1)
	o.sent.Add(int64(written))
	if number > 1 {
		o.retries.Add(1)
	}
}

// call counts a call, and tells of one that made no attempt.
func (o *observer) call(ctx context.Context, op Operation, avoided Avoided, took time.Duration) {
	o.calls.Add(1)
	switch avoided {
	case avoidedNot:
		return
	case AvoidedInvalid:
		o.invalid.Add(1)
	case AvoidedQuota:
		o.quota.Add(1)
	case AvoidedSOL:
		o.sol.Add(1)
	case AvoidedOutOfTime:
		o.outOfTime.Add(1)
	case AvoidedCached:
		o.cached.Add(1)
	case AvoidedCoalesced:
		o.coalesced.Add(1)
	}
	if o.watching() {
		o.event(ctx, Event{Op: op, Duration: took, Avoided: avoided})
	}
}

// stats returns the counts so far.
func (o *observer) stats() Stats {
	return Stats{
		Calls:    o.calls.Load(),
		Attempts: o.attempts.Load(),
		Retries:  o.retries.Load(),
		Sent:     o.sent.Load(),
		Avoided: map[Avoided]int64{
			AvoidedInvalid:   o.invalid.Load(),
			AvoidedQuota:     o.quota.Load(),
			AvoidedSOL:       o.sol.Load(),
			AvoidedOutOfTime: o.outOfTime.Load(),
			AvoidedCached:    o.cached.Load(),
			AvoidedCoalesced: o.coalesced.Load(),
		},
	}
}
