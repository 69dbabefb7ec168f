package fiscope

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/quota"
)

// Event is one attempt, after its answer was read, or one call that ended without any. One more tells of a
// SUNAT, UltimoPublicado, MasReciente or Mes that refuses the rate of another date, which lenient reading let pass, and
// one of an answer of a [Respaldo], after those of the failure in whose place it is. It holds no URL and no
// credential, and but for the Body of its Err no RUC and no name.
type Event struct {
	Op         Operation
	Attempt    int           // from 1 on; 0 where none was made
	StatusCode int           // 0 where no answer came
	Code       string        // of an error answer, as in NOT_FOUND
	Duration   time.Duration // of the attempt; of the call where none was made; that a Respaldo took
	RateLimit  *RateLimit    // as this answer's headers said; nil where none came
	Delivery   Delivery      // whether the service can have received it
	Avoided    Avoided       // why no attempt was made; "" where one was
	Err        error         // what the caller gets, or would if no attempt and no Respaldo followed, an [*Error]; nil for a result. See [ErrorClass]
	Warnings   []string      // what was odd in an answer that was accepted all the same, in English

	FromRespaldo  bool  // a Respaldo answered: this is no attempt
	FechaRespaldo Fecha // of its data; zero where it is not known
}

// Avoided says why a call spent no query.
type Avoided string

// The reasons.
const (
	AvoidedInvalid     Avoided = "invalid"     // the input breaks a rule
	AvoidedQuota       Avoided = "quota"       // the quota is known to be spent, the rest is kept in reserve, or the Store cannot say
	AvoidedSOL         Avoided = "sol"         // the SOL credential was refused before
	AvoidedUnpublished Avoided = "unpublished" // of that date there is no rate, or not yet, by the calendar
	AvoidedOutOfTime   Avoided = "out of time" // the context ended before the first attempt
	AvoidedCached      Avoided = "cached"      // an earlier answer served, see WithCache
	AvoidedCoalesced   Avoided = "coalesced"   // it shared another call's query, whatever came of it, see WithCoalescing
	avoidedNot         Avoided = ""
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
	case errors.Is(err, ErrNotFound):
		return AvoidedUnpublished
	case errors.Is(err, quota.ErrAway):
		return AvoidedQuota
	}
	return AvoidedOutOfTime
}

// own returns the event for one who may keep and change it.
func (e Event) own() Event {
	e.RateLimit, e.Warnings = e.RateLimit.copy(), slices.Clone(e.Warnings)
	if e.Err != nil {
		err := copyError(e.Err)
		e.Err, e.Code = err, err.Code
	}
	return e
}

// level is how much attention an event needs. A caller's own cancel says nothing about the service, and a 400
// is about the caller's input; another 4xx that is no class of its own is about what stands between.
func (e Event) level() slog.Level {
	switch class := ErrorClass(e.Err); class {
	case "":
		if e.FromRespaldo || len(e.Warnings) > 0 && e.Avoided == avoidedNot { // otherwise they were told before
			return slog.LevelInfo
		}
		return slog.LevelDebug
	case "not_found", "not_yet_published", "search_too_short", "canceled":
		return slog.LevelDebug
	case "invalid_request":
		if e.StatusCode == 0 || e.StatusCode == http.StatusBadRequest {
			return slog.LevelDebug
		}
	}
	return slog.LevelWarn
}

// message says in few words what an event is.
func (e Event) message() string {
	if e.FromRespaldo {
		return "fiscope: answered from the Respaldo"
	}
	switch e.Avoided {
	case AvoidedCached:
		return "fiscope: answered from the cache"
	case AvoidedCoalesced:
		return "fiscope: shared another call's query"
	case AvoidedInvalid, AvoidedQuota, AvoidedSOL, AvoidedUnpublished:
		return "fiscope: refused before it was sent"
	case AvoidedOutOfTime:
		return "fiscope: ended before it was sent"
	case avoidedNot:
	}
	switch {
	case e.StatusCode == 0:
		return "fiscope: not answered"
	case e.Err != nil:
		return "fiscope: answered with an error"
	}
	return "fiscope: answered"
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
	if e.FromRespaldo {
		attrs = append(attrs, slog.String("respaldo", e.FechaRespaldo.String()))
	}
	if e.RateLimit != nil {
		attrs = append(attrs, slog.String("quota", e.RateLimit.String()))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("class", ErrorClass(e.Err)), slog.String("error", e.Err.Error()))
	}
	if len(e.Warnings) > 0 {
		attrs = append(attrs, slog.Any("warnings", e.Warnings))
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

	// A Respaldo answered, since the service cannot be asked: the rest is of that failure. See WithRespaldo.
	FromRespaldo  bool
	FechaRespaldo Fecha // of its data; zero where it is not known
}

// copy returns a Response that shares nothing with r.
func (r Response) copy() Response {
	r.Header, r.RateLimit, r.Warnings = r.Header.Clone(), r.RateLimit.copy(), slices.Clone(r.Warnings)
	return r
}

// Hook is called at the start of each operation, before anything is checked or asked, in the goroutine of its
// caller and with its context. The context that it returns is the operation's from then on, with its values
// and its deadline: a span in it is the parent of those that a transport makes. For nil the caller's stays.
//
// The function that it returns, which may be nil, is told the end, once and in the same goroutine: what the
// caller gets of the Response and the error, as copies, whether there was a result, a local refusal, an
// answer from the cache or of another call's query, or a caller who leaves while his validation goes on. Where
// the call panics or ends its goroutine, it is told an error without a class, before the panic goes on.
//
// SUNAT, UltimoPublicado, MasReciente, Mes and Esperar are operations made of operations: the hook is called for the
// whole, with Mes from the beginning of the range to its end, and for each query with the context that it
// returned for the whole. A batch is a loop of its caller's that may run for days: the hook is called for each
// of its queries, with the context of the batch.
type Hook func(ctx context.Context, op Operation) (context.Context, func(Response, error))

// Stats is what a Client did since it was made.
type Stats struct {
	Calls    int64             // operations called
	Attempts int64             // attempts made for them
	Retries  int64             // attempts after a call's first
	Sent     int64             // requests that were written to the network, as far as the transport tells: what may have been charged
	Avoided  map[Avoided]int64 // calls that spent no query, by reason
	Respaldo int64             // calls that a Respaldo answered, see WithRespaldo
}

// observer counts what a client does, and tells the caller's functions and logger.
type observer struct {
	tell   []func(context.Context, Event)
	logger *slog.Logger // nil for none

	attempts, retries, sent, respaldo atomic.Int64

	// Each call counts in one of these alone: the fewer counters it touches, the less do calls on many cores
	// wait for each other.
	notAvoided, invalid, quota, sol, unpublished, outOfTime, coalesced atomic.Int64

	cache *cache // counts the calls that it answered
}

// watching reports whether anybody is told of events.
func (o *observer) watching() bool { return len(o.tell) > 0 || o.logger != nil }

// event tells of an attempt, or of a call that made none.
func (o *observer) event(ctx context.Context, e Event) {
	for _, tell := range o.tell {
		tell(ctx, e.own())
	}
	if o.logger != nil {
		e = e.own()
		o.logger.LogAttrs(ctx, e.level(), e.message(), slog.Any("event", e)) //nolint:sloglint // one of a few constants
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

// call counts a call, and tells of one that made no attempt: e says why.
func (o *observer) call(ctx context.Context, e Event) {
	o.count(e.Avoided)
	if e.Avoided != avoidedNot && o.watching() {
		o.event(ctx, e)
	}
}

// count counts a call that spent no query for that reason, or that did.
func (o *observer) count(avoided Avoided) {
	switch avoided {
	case avoidedNot:
		o.notAvoided.Add(1)
	case AvoidedInvalid:
		o.invalid.Add(1)
	case AvoidedQuota:
		o.quota.Add(1)
	case AvoidedSOL:
		o.sol.Add(1)
	case AvoidedUnpublished:
		o.unpublished.Add(1)
	case AvoidedOutOfTime:
		o.outOfTime.Add(1)
	case AvoidedCached: // the cache counts it
	case AvoidedCoalesced:
		o.coalesced.Add(1)
	}
}

// standIn counts a call that a Respaldo answered, and tells of it.
func (o *observer) standIn(ctx context.Context, e Event) {
	o.respaldo.Add(1)
	if o.watching() {
		o.event(ctx, e)
	}
}

// stats returns the counts so far.
func (o *observer) stats() Stats {
	s := Stats{
		Calls:    o.notAvoided.Load(),
		Attempts: o.attempts.Load(),
		Retries:  o.retries.Load(),
		Sent:     o.sent.Load(),
		Respaldo: o.respaldo.Load(),
		Avoided: map[Avoided]int64{
			AvoidedInvalid:     o.invalid.Load(),
			AvoidedQuota:       o.quota.Load(),
			AvoidedSOL:         o.sol.Load(),
			AvoidedUnpublished: o.unpublished.Load(),
			AvoidedOutOfTime:   o.outOfTime.Load(),
			AvoidedCached:      o.cache.answered(),
			AvoidedCoalesced:   o.coalesced.Load(),
		},
	}
	for _, calls := range s.Avoided {
		s.Calls += calls
	}
	return s
}
