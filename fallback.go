package fiscope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/breaker"
	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/scrub"
)

// fallback answers while the service is away: with a stale answer from the cache or, for a lookup, with the Respaldo.
// After three consecutive failures it answers at once, and probes the service in the background.
type fallback struct {
	kept     keeper
	respaldo Respaldo // nil for none
	report   *reporter
	accepted *atomic.Bool // the service has accepted the API key
	apart    *flight.Runner
	down     breaker.Breaker
	why      atomic.Pointer[Error] // the last failure
}

const (
	maxFailures  = 3
	probePause   = 5 * time.Second
	probeTimeout = 30 * time.Second
	hungAfter    = 2 * time.Second // longer than most answers take
)

func newFallback(kept keeper, respaldo Respaldo, r *reporter, accepted *atomic.Bool, apart *flight.Runner) *fallback {
	return &fallback{
		kept: kept, respaldo: respaldo, report: r, accepted: accepted, apart: apart,
		down: breaker.Breaker{Failures: maxFailures, Pause: probePause, Longest: probePause},
	}
}

// layer asks below, and replaces an unusable answer. After three failures it first tries the fallbacks: only a call that
// none can answer waits for the service.
func (f *fallback) layer(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		if ctx.Err() != nil || f.kept.cache == nil && f.respaldo == nil && q.set.respaldo == nil {
			return next(ctx, q)
		}
		open := f.down.Open()
		if open && !q.set.fresh {
			f.kept.find(ctx, q) // puts another process's answer into the cache
		}
		stale, r := f.of(q)
		if open && f.kept.fresh(q.key) == nil {
			why := f.why.Load()
			if a := f.answer(ctx, q, stale, r, &answer{err: why, outcome: why.outcome}); a != nil {
				f.probe(ctx, q, next)
				return a, nil
			}
		}
		asking, cancel := ctx, func() {}
		if stale != nil || r != nil || f.kept.mayFind(q) {
			asking, cancel = shortened(ctx)
		}
		defer cancel()
		asked := time.Now()
		a, err := next(asking, q)
		if a == nil {
			a = new(answer)
		}
		if away := f.count(asking, q, a, err, asked); !away || ctx.Err() != nil {
			return a, err
		}
		stale, r = f.of(q) // again: an answer may have come meanwhile
		if stale != nil && stale.fresh(f.report.clock) {
			return &stale.answer, nil // another call has just got it
		}
		if instead := f.answer(ctx, q, stale, r, a); instead != nil {
			return instead, err
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

// count counts consecutive failures of queries that were sent. It reports whether the service gave no usable answer.
// A caller who left after hungAfter counts too: while the service hangs, impatient callers see no other failure.
func (f *fallback) count(ctx context.Context, q *question, a *answer, err error, asked time.Time) (away bool) {
	left := false
	if err != nil || a.err != nil {
		o := a.end(ctx, err)
		away, left = f.away(q.key.op, o), o == canceled && time.Since(asked) > hungAfter
	}
	switch {
	case a.attempts == 0 || a.joined:
	case away || left:
		why := f.report.failure(ctx, q, a, err)
		if left {
			why.outcome, why.Err = unanswered, ErrUnavailable
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
	switch outcomes[o].away {
	case unusable:
		return true
	case unlessRate:
		return op != OpConsultarTipoCambio && op != OpTipoCambioHoy && (outcomes[o].class != ErrUnauthorized || f.accepted.Load()) //nolint:errorlint // the table's own
	case answered:
	}
	return false
}

// probe asks in the background, once in each probePause, whether the service is back.
func (f *fallback) probe(ctx context.Context, q *question, next ask) {
	if !f.down.Probe() {
		return
	}
	own, asked := *q, time.Now()
	f.apart.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		if a, err := next(ctx, &own); a != nil {
			f.count(ctx, &own, a, err, asked)
		}
	})
}

// answer returns a copy of a failed answer with the result of a fallback; nil without one. report passes on the result
// and the failure.
func (f *fallback) answer(ctx context.Context, q *question, kept *entry, r Respaldo, failed *answer) *answer {
	a := *failed // other calls may have the same
	if kept != nil {
		a.result, a.shared, a.warnings, a.source, a.asOf = kept.result, true, kept.warnings, SourceStale, kept.asOf
		return &a
	}
	if r == nil {
		return nil
	}
	got := f.search(ctx, r, q.key.text)
	if got == nil {
		return nil
	}
	a.result, a.shared, a.warnings, a.source, a.asOf = got.result, false, slices.Concat(a.warnings, got.warnings), SourceRespaldo, got.asOf
	return &a
}

// longestSearch bounds a caller's wait for a Respaldo.
const longestSearch = 5 * time.Second

// search asks a Respaldo; nil for no record. If it hangs, the caller waits until ctx ends, or for longestSearch.
func (f *fallback) search(ctx context.Context, r Respaldo, ruc string) *answer {
	ctx, cancel := context.WithTimeout(ctx, longestSearch)
	defer cancel()
	a, _ := flight.Detached(ctx, f.apart, func(ctx context.Context) (*answer, error) { return f.record(ctx, r, ruc), nil }, nil)
	return a
}

// record returns the record of a RUC, checked like an answer of the service; nil for none. A failure is logged: the
// caller gets the service's error.
func (f *fallback) record(ctx context.Context, r Respaldo, ruc string) *answer {
	secrets := f.report.secrets
	c, fecha, err := r.Contribuyente(ctx, ruc)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && c == nil:
		return nil
	case err != nil:
	case c.RUC != ruc:
		err = fmt.Errorf("asked for the RUC %s, its record is of %s", scrub.AbridgeRUC(ruc), scrub.AbridgeRUC(c.RUC))
	case nameless(c.RazonSocial):
		err = fmt.Errorf("its record of the RUC %s has no name", scrub.AbridgeRUC(ruc))
	}
	if err != nil {
		if logger := f.report.observer.logger; logger != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "fiscope: the Respaldo failed", slog.String("error", secrets.Line(err.Error())))
		}
		return nil
	}
	own := *c
	a := &answer{result: &own, reading: reading{secrets: secrets}}
	a.checkTaxpayer(own.RazonSocial, own.Estado, own.Condicion)
	for _, date := range []*Fecha{&own.FechaInscripcion, &own.FechaInicioActividades} {
		if !date.IsZero() && !date.Valid() {
			a.warn("a date of the taxpayer is not a day of the calendar: %s", date)
			*date = Fecha{}
		}
	}
	if fecha.Valid() {
		a.asOf = fecha.En(Lima)
	} else {
		a.warn("the Respaldo does not say of which day its data is")
	}
	return a
}
