package fiscope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/scrub"
)

// searcher asks a Respaldo in the background.
type searcher struct {
	report *reporter
	apart  flight.Runner
}

// longestSearch bounds a caller's wait for a Respaldo.
const longestSearch = 5 * time.Second

// record is a Respaldo's record of a RUC.
type record struct {
	contribuyente Contribuyente
	fecha         Fecha // of the data; zero if unknown
	warnings      []string
	found         bool
}

// check checks a record like an answer of the service.
func (r *record) check(ruc string, secrets scrub.Secrets) error {
	c := &r.contribuyente
	switch {
	case c.RUC != ruc:
		return fmt.Errorf("asked for the RUC %s, its record is of %s", scrub.AbridgeRUC(ruc), scrub.AbridgeRUC(c.RUC))
	case nameless(c.RazonSocial):
		return fmt.Errorf("its record of the RUC %s has no name", scrub.AbridgeRUC(ruc))
	}
	a := answer{reading: reading{secrets: secrets}}
	a.checkTaxpayer(c.RazonSocial, c.Estado, c.Condicion)
	for _, f := range []*Fecha{&c.FechaInscripcion, &c.FechaInicioActividades} {
		if !f.IsZero() && !f.Valid() {
			a.warn("a date of the taxpayer is not a day of the calendar: %s", f)
			*f = Fecha{}
		}
	}
	if !r.fecha.Valid() {
		a.warn("the Respaldo does not say of which day its data is")
		r.fecha = Fecha{}
	}
	r.warnings = a.warnings
	return nil
}

// ask asks a Respaldo. If it hangs, the caller waits until ctx ends, or for longestSearch.
func (s *searcher) ask(ctx context.Context, r Respaldo, ruc string) *record {
	ctx, cancel := context.WithTimeout(ctx, longestSearch)
	defer cancel()
	got, err := flight.Detached(ctx, s.apart, func(ctx context.Context) (*record, error) {
		got := new(record)
		s.read(ctx, r, ruc, got)
		return got, nil
	}, nil)
	if err != nil || !got.found {
		return nil
	}
	return got
}

// read reads a record into into. A failure is logged: the caller gets the service's error.
func (s *searcher) read(ctx context.Context, r Respaldo, ruc string, into *record) {
	c, fecha, err := r.Contribuyente(ctx, ruc)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && c == nil:
		return
	case err == nil:
		into.contribuyente, into.fecha = *c, fecha
		if err = into.check(ruc, s.report.secrets); err == nil {
			into.found = true
			return
		}
	}
	if logger := s.report.observer.logger; logger != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "fiscope: the Respaldo failed", slog.String("error", s.report.secrets.Line(err.Error())))
	}
}

// answer returns the answer of the fallback; nil for none. failure is the service's error; nil if it was not asked.
func (f *fallback) answer(ctx context.Context, q *question, kept *entry, r Respaldo, failure error) *answer {
	if kept == nil && r == nil {
		return nil
	}
	start := time.Now()
	e := Event{Op: q.key.op}
	var a *answer
	var resp Response
	if kept != nil {
		a, resp = &kept.answer, kept.response(f.report.clock)
	} else {
		found := f.search.ask(ctx, r, q.key.text)
		if found == nil {
			return nil
		}
		if failure != nil && q.set.response != nil { // the rest describes the failure
			resp = *q.set.response
		}
		a = &answer{result: &found.contribuyente}
		resp.FromRespaldo, resp.FechaRespaldo, resp.Warnings = true, found.fecha, append(resp.Warnings, found.warnings...)
		e.FromRespaldo, e.FechaRespaldo = true, found.fecha
	}
	e.Duration, e.Warnings = time.Since(start), resp.Warnings
	resp.Duration += e.Duration
	if failure == nil {
		e.Avoided = AvoidedOutage
		failure = f.why.Load()
	}
	if e.FromRespaldo || e.Avoided == AvoidedOutage { // otherwise the attempts have been reported
		f.report.observer.fallback(ctx, e)
	}
	if q.set.response != nil {
		*q.set.response = resp
	}
	if q.set.failure != nil && failure != nil {
		*q.set.failure = copyError(failure)
	}
	return a
}
