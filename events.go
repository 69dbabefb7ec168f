package fiscope

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Event is one attempt, after its answer was read; or one call that made no attempt, or that a fallback answered. An
// Event holds no URL and no credential; only the Body of its Err may hold a RUC or a name.
type Event struct {
	Op         Operation
	Attempt    int           // from 1 on; 0 for a call
	StatusCode int           // 0 if no answer came
	Duration   time.Duration // of the attempt, or of the call
	RateLimit  *RateLimit    // from this answer's headers; nil without them
	Delivery   Delivery      // whether the service may have received it
	Avoided    Avoided       // why no query was spent; "" for an attempt
	Err        error         // an [*Error], which the caller gets unless a retry or a fallback follows; nil for a result
	Warnings   []string      // what was odd in an accepted answer, in English
	Source     Source        // where the answer of a call came from, as in Response; "" for an attempt
	AsOf       time.Time     // when that was, as in Response; zero for an attempt
}

// own returns a copy that its receiver may keep and change.
func (e Event) own() Event {
	e.RateLimit, e.Warnings = e.RateLimit.copy(), slices.Clone(e.Warnings)
	if e.Err != nil {
		e.Err = copyError(e.Err)
	}
	return e
}

// events counts each attempt and notifies the observers, after every guard below has recorded it.
func events(o *observer, failure func(context.Context, *question, *answer, error) *Error) layer {
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			a, err := next(ctx, q)
			if err != nil {
				return a, err
			}
			o.attempt(q.attempt, a.Unsent)
			if len(o.notify) > 0 {
				delivery := a.delivery
				if a.Unsent { // this attempt alone
					delivery = DeliveryNotSent
				}
				e := Event{
					Op: q.key.op, Attempt: q.attempt, StatusCode: a.Status, Duration: a.Took,
					RateLimit: a.rateLimit, Delivery: delivery, Warnings: a.warnings,
				}
				var failed *Error
				if a.err != nil {
					failed = failure(ctx, q, a, nil)
					e.Err = failed
				}
				o.event(ctx, e, failed)
			}
			return a, nil
		}
	}
}

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

// notice notifies of an attempt or a call. why is its error, or the failure behind a fallback; nil for none.
type notice func(ctx context.Context, e Event, why *Error)

// observer counts what a client does, and notifies the caller's functions and logger.
type observer struct {
	notify  []notice     // the caller's functions, and log
	logger  *slog.Logger // nil for none
	outages sync.Map     // of *loglimit.Outage, by outage

	accepted atomic.Bool // the service has accepted the API key

	reserveUnknown atomic.Int64
	reserveWarned  atomic.Int64 // the day of the last warning, in Unix days

	attempts, retries, sent, respaldo atomic.Int64
	calls                             [len(avoided)]atomic.Int64 // by reason
}

// avoided lists the reasons for which calls are counted.
var avoided = [...]Avoided{avoidedNot, AvoidedInvalid, AvoidedQuota, AvoidedSOL, AvoidedUnpublished, AvoidedOutOfTime, AvoidedCached, AvoidedCoalesced, AvoidedOutage}

// event notifies of an attempt or a call.
func (o *observer) event(ctx context.Context, e Event, why *Error) {
	for _, notify := range o.notify {
		notify(ctx, e.own(), why)
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

// call counts a call. It notifies of one that made no attempt, and of one that a fallback answered.
func (o *observer) call(ctx context.Context, e Event, why *Error) {
	o.calls[slices.Index(avoided[:], e.Avoided)].Add(1)
	instead := why != nil && e.Err == nil
	if instead && e.Source != SourceStale {
		o.respaldo.Add(1)
	}
	if why != nil && o.logger != nil {
		o.outage(e.Op, why).Count()
	}
	if e.Avoided != avoidedNot || instead {
		o.event(ctx, e, why)
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
