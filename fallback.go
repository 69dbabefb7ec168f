package fiscope

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/breaker"
	"github.com/fiscope/fiscope/internal/flight"
)

// fallback answers while the service is away: with a stale answer from the cache or, for a lookup, with the Respaldo.
// After three consecutive failures it answers at once, and probes the service in the background.
type fallback struct {
	kept     keeper
	respaldo Respaldo // nil for none
	report   *reporter
	apart    flight.Runner
	search   searcher
	down     breaker.Breaker
	why      atomic.Pointer[Error] // the last failure
}

const (
	maxFailures  = 3
	probePause   = 5 * time.Second
	probeTimeout = 30 * time.Second
)

func newFallback(kept keeper, r Respaldo, report *reporter, apart flight.Runner) *fallback {
	return &fallback{
		kept: kept, respaldo: r, report: report, apart: apart,
		search: searcher{report, apart},
		down:   breaker.Breaker{Failures: maxFailures, Pause: probePause, Longest: probePause},
	}
}

func (f *fallback) layer(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		if ctx == nil || q.set.invalid != nil || ctx.Err() != nil {
			return next(ctx, q)
		}
		open := f.down.Open()
		if open && !q.set.fresh {
			f.kept.find(ctx, q) // another process may have an answer
		}
		stale, r := f.of(q)
		if open && f.kept.fresh(q.key) == nil {
			if a := f.answer(ctx, q, stale, r, nil); a != nil {
				f.probe(ctx, q, next)
				return a, nil
			}
		}
		asking, cancel := ctx, func() {}
		if stale != nil || r != nil || f.kept.mayFind(q) {
			asking, cancel = shortened(ctx)
		}
		defer cancel()
		a, err := next(asking, q)
		f.record(a, err)
		if err == nil || ctx.Err() != nil || !isAway(err) {
			return a, err
		}
		stale, r = f.of(q) // with what came meanwhile
		if a := f.answer(ctx, q, stale, r, err); a != nil {
			return a, nil
		}
		return a, err
	}
}

// of returns the fallbacks of a question.
func (f *fallback) of(q *question) (kept *entry, r Respaldo) {
	if !q.set.fresh {
		kept, r = f.kept.fallback(q.key), f.respaldo
	}
	if q.set.respaldo != nil {
		r = q.set.respaldo
	}
	if q.key.op != OpConsultarContribuyente || checkRUC("ruc", q.key.text) != nil {
		r = nil
	}
	return kept, r
}

// shortened returns a context that leaves time for the fallback before the deadline.
func shortened(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/10, time.Second/2)))
}

// isAway reports whether no usable answer came, or none before the deadline.
func isAway(err error) bool {
	var e *Error
	return errors.As(err, &e) && (outcomes[e.outcome].away && errors.Is(e, outcomes[e.outcome].class) || e.Err == nil && errors.Is(e, context.DeadlineExceeded))
}

// record counts consecutive failures of queries that were sent.
func (f *fallback) record(a *answer, err error) {
	if a == nil || a.attempts == 0 || a.coalesced || a.kept != nil {
		return
	}
	if err != nil && isAway(err) {
		f.why.Store(copyError(err))
		f.down.Record(false)
	} else if a.Status != 0 { // a cancelled call or a panic says nothing
		f.down.Record(true)
	}
}

// probe asks in the background, once in each probePause, whether the service is back.
func (f *fallback) probe(ctx context.Context, q *question, next ask) {
	if !f.down.Probe() {
		return
	}
	own := *q
	set := *q.set
	set.response, set.failure, set.sendBy = nil, nil, time.Time{}
	own.set = &set
	f.apart.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		a, err := next(ctx, &own)
		f.record(a, err)
	})
}
