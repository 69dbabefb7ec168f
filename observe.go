package fiscope

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/loglimit"
)

// Event is one attempt, after its answer was read, or one call that made no attempt. An answer from a [Respaldo] is an
// event of its own. An Event holds no URL and no credential; only the Body of its Err may hold a RUC or a name.
type Event struct {
	Op            Operation
	Attempt       int           // from 1 on; 0 if none was made
	StatusCode    int           // 0 if no answer came
	Code          string        // of an error answer, such as NOT_FOUND
	Duration      time.Duration // of the attempt, of the call without attempts, or of the Respaldo
	RateLimit     *RateLimit    // from this answer's headers; nil without them
	Delivery      Delivery      // whether the service may have received it
	Avoided       Avoided       // why no query was spent; "" for an attempt
	Err           error         // an [*Error], which the caller gets unless a retry or a Respaldo follows; nil for a result
	Warnings      []string      // what was odd in an accepted answer, in English
	FromRespaldo  bool          // a Respaldo answered: this is no attempt
	FechaRespaldo Fecha         // of its data; zero if unknown
}

// Avoided says why a call spent no query.
type Avoided string

// The reasons.
const (
	AvoidedInvalid     Avoided = "invalid"     // the input breaks a rule
	AvoidedQuota       Avoided = "quota"       // the quota is spent, or the rest is kept in reserve
	AvoidedSOL         Avoided = "sol"         // the SOL credential was refused before, or needs the Store, which is away
	AvoidedUnpublished Avoided = "unpublished" // that date has no rate according to the calendar, or not yet
	AvoidedOutOfTime   Avoided = "out of time" // the context ended before the first attempt
	AvoidedCached      Avoided = "cached"      // see WithCache
	AvoidedCoalesced   Avoided = "coalesced"   // it shared another call's query, see WithCoalescing
	AvoidedOutage      Avoided = "outage"      // the service is away: a stale answer or the Respaldo served at once
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
	case errors.Is(err, errStoreAway):
		return AvoidedSOL
	}
	return AvoidedOutOfTime
}

// own returns a copy that its receiver may keep and change.
func (e Event) own() Event {
	e.RateLimit, e.Warnings = e.RateLimit.copy(), slices.Clone(e.Warnings)
	if e.Err != nil {
		err := copyError(e.Err)
		e.Err, e.Code = err, err.Code
	}
	return e
}

// Hook is called at the start of each operation, before any check, in the goroutine of its caller. The operation runs
// in the context that the Hook returns: a span in it is the parent of the transport's. nil keeps the caller's context.
//
// The function that the Hook returns may be nil. It is called once at the end, in the same goroutine, with copies of
// what the caller gets. If the call panics or ends its goroutine, it gets an error without a class.
//
// SUNAT, UltimoPublicado, MasReciente, Mes and Esperar call the hook for the whole, and then for each query. A batch
// calls it only for each query.
type Hook func(ctx context.Context, op Operation) (context.Context, func(Response, error))

// Stats counts what a Client did since it was made.
type Stats struct {
	Calls          int64             // operations called
	Attempts       int64             // attempts made for them
	Retries        int64             // attempts after a call's first
	Sent           int64             // requests that may have been received, and charged
	Avoided        map[Avoided]int64 // calls that spent no query, by reason
	Respaldo       int64             // calls that a Respaldo answered, see WithRespaldo
	ReserveUnknown int64             // attempts with a reserve while the quota was unknown: nothing was kept, see WithQuotaReserve
}

// observer counts what a client does, and notifies the caller's functions and logger.
type observer struct {
	notify []func(context.Context, Event)
	logger *slog.Logger        // nil for none
	quota  loglimit.Repetition // refusals of a spent quota, as they are logged
	sol    loglimit.Repetition // ... and of a blocked clave

	reserveUnknown atomic.Int64
	reserveWarned  atomic.Int64 // the day of the last warning, in Unix days

	attempts, retries, sent, respaldo atomic.Int64
	calls                             [len(avoided)]atomic.Int64 // by reason
}

// avoided lists the reasons for which calls are counted.
var avoided = [...]Avoided{avoidedNot, AvoidedInvalid, AvoidedQuota, AvoidedSOL, AvoidedUnpublished, AvoidedOutOfTime, AvoidedCached, AvoidedCoalesced, AvoidedOutage}

// watching reports whether there is an observer or a logger.
func (o *observer) watching() bool { return len(o.notify) > 0 || o.logger != nil }

// event reports an attempt, or a call that made none.
func (o *observer) event(ctx context.Context, e Event) {
	for _, notify := range o.notify {
		notify(ctx, e.own())
	}
	if o.logger != nil {
		o.log(ctx, e.own())
	}
}

// attempt counts an attempt; number is its number within the call.
func (o *observer) attempt(number int, unsent bool) {
	o.attempts.Add(1)
	if !unsent {
		o.sent.Add(1)
	}
	if number > 1 {
		o.retries.Add(1)
	}
}

// call counts a call, and reports it if it made no attempt: e says why.
func (o *observer) call(ctx context.Context, e Event) {
	o.calls[slices.Index(avoided[:], e.Avoided)].Add(1)
	if e.Avoided != avoidedNot && o.watching() {
		o.event(ctx, e)
	}
}

// fallback counts and reports an answer of the fallback. It counts the call only if the service was not asked.
func (o *observer) fallback(ctx context.Context, e Event) {
	if e.FromRespaldo {
		o.respaldo.Add(1)
	}
	if e.Avoided == AvoidedOutage {
		o.calls[slices.Index(avoided[:], e.Avoided)].Add(1)
	}
	if o.watching() {
		o.event(ctx, e)
	}
}

// reserveIgnored counts an attempt whose reserve had no effect because the quota is unknown, and warns once a day.
func (o *observer) reserveIgnored(ctx context.Context) {
	o.reserveUnknown.Add(1)
	today := time.Now().Unix() / (24 * 60 * 60)
	if o.reserveWarned.Swap(today) != today && o.logger != nil {
		o.logger.WarnContext(ctx, "fiscope: WithQuotaReserve keeps nothing yet: no answer today said how many queries are left. Make a lookup first")
	}
}

// stats returns the counts so far.
func (o *observer) stats() Stats {
	s := Stats{
		Attempts: o.attempts.Load(), Retries: o.retries.Load(), Sent: o.sent.Load(), Respaldo: o.respaldo.Load(),
		ReserveUnknown: o.reserveUnknown.Load(), Avoided: map[Avoided]int64{},
	}
	for i, reason := range avoided {
		calls := o.calls[i].Load()
		if s.Calls += calls; reason != avoidedNot {
			s.Avoided[reason] = calls
		}
	}
	return s
}
