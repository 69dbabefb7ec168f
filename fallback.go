package fiscope

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/breaker"
	"github.com/fiscope/fiscope/internal/flight"
)

// fallback answers while the service is away, from the first of its sources that has a result. After three consecutive
// failures it answers at once, and probes the service in the background.
type fallback struct {
	kept      keeper
	respaldos map[Source]Respaldo // the client's
	sources   []source            // in the order in which they are asked
	report    *reporter
	runner    *flight.Runner
	down      breaker.Breaker
	why       atomic.Pointer[Error] // the last failure
}

// source may have a result while the service is away.
type source interface {
	may(*question) bool                      // whether it may have one, without asking
	find(context.Context, *question) *answer // the result, its Source, date and warnings; nil for none
}

const (
	maxFailures  = 3
	probePause   = 5 * time.Second
	probeTimeout = 30 * time.Second
	hungAfter    = 2 * time.Second // longer than most answers take
)

func newFallback(kept keeper, respaldos map[Source]Respaldo, r *reporter, runner *flight.Runner) *fallback {
	return &fallback{
		sources: []source{
			stale{kept},
			registry{SourceRespaldo, respaldos, r, runner},
		},
		kept: kept, respaldos: respaldos, report: r, runner: runner,
		down: breaker.Breaker{Failures: maxFailures, Pause: probePause, Longest: probePause},
	}
}

// layer asks below, and replaces an unusable answer. After three failures it first tries the fallbacks: only a call that
// none can answer waits for the service.
func (f *fallback) layer(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		if ctx.Err() != nil || f.kept.cache == nil && f.respaldos == nil && q.set.respaldos == nil {
			return next(ctx, q)
		}
		if f.down.Open() {
			if e := f.kept.recall(ctx, q); e != nil {
				return &e.answer, nil
			}
			why := f.why.Load()
			if a := f.answer(ctx, q, &answer{err: why, outcome: why.outcome}); a != nil {
				f.probe(ctx, q, next)
				return a, nil
			}
		}
		asking, cancel := f.shortened(ctx, q)
		defer cancel()
		a, err := next(asking, q)
		if a == nil {
			a = new(answer)
		}
		if away := f.count(asking, q, a, err); !away || ctx.Err() != nil {
			return a, err
		}
		switch instead := f.answer(ctx, q, a); {
		case instead == nil:
			return a, err
		case instead.source == SourceCache: // another call has just got it
			return instead, nil
		default:
			return instead, err
		}
	}
}

// shortened returns a context that leaves time before the deadline for a source that may have a result.
func (f *fallback) shortened(ctx context.Context, q *question) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded || !slices.ContainsFunc(f.sources, func(s source) bool { return s.may(q) }) {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/10, time.Second/2)))
}

// count counts consecutive failures of queries that were sent. It reports whether the service gave no usable answer.
// A caller who left after hungAfter counts too: while the service hangs, impatient callers see no other failure.
func (f *fallback) count(ctx context.Context, q *question, a *answer, err error) (away bool) {
	left := false
	if err != nil || a.err != nil {
		o := a.end(ctx, err)
		away, left = f.away(q.key.op, o), o == canceled && time.Since(q.began) > hungAfter
	}
	switch {
	case a.attempts == 0 || a.joined:
	case away || left:
		why := f.report.failure(ctx, q, a, err)
		if left {
			why.outcome = unanswered
		}
		f.why.Store(why)
		f.down.Record(false)
	case a.Status != 0: // a cancelled call or a panic says nothing
		f.down.Record(true)
	}
	return away
}

// away reports whether a fallback answers instead of the service. A key that the service never accepted may be a typing
// mistake, which the first call must show.
func (f *fallback) away(op Operation, o outcome) bool {
	rate := op == OpConsultarTipoCambio || op == OpTipoCambioHoy
	known := outcomes[o].class != ErrUnauthorized || f.report.observer.accepted.Load() //nolint:errorlint // the table's own
	return outcomes[o].away == unusable || outcomes[o].away == unlessRate && !rate && known
}

// probe asks in the background, once in each probePause, whether the service is back.
func (f *fallback) probe(ctx context.Context, q *question, next ask) {
	if !f.down.Probe() {
		return
	}
	own := *q
	own.began = time.Now()
	f.runner.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		if a, err := next(ctx, &own); a != nil {
			f.count(ctx, &own, a, err)
		}
	})
}

// answer returns a copy of a failed answer with the result of a source, or the fresh answer that another call has just
// got; nil without one. report passes on the result and the failure.
func (f *fallback) answer(ctx context.Context, q *question, failed *answer) *answer {
	for _, s := range f.sources {
		got := s.find(ctx, q)
		switch {
		case got == nil:
			continue
		case got.source == SourceCache:
			return got
		}
		a := *failed // other calls may have the same
		a.result, a.shared, a.source, a.asOf, a.warnings = got.result, got.shared, got.source, got.asOf, got.warnings
		if !got.shared { // a kept answer has had its own headers
			a.warnings = slices.Concat(failed.warnings, got.warnings)
		}
		return &a
	}
	return nil
}
