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

// registry is the source that asks a Respaldo. It answers lookups alone.
type registry struct {
	name   Source
	own    map[Source]Respaldo // the client's
	report *reporter
	runner *flight.Runner
}

// of returns the Respaldo for a question; nil for none. [WithoutCache] turns off the client's, not the call's.
func (g registry) of(q *question) Respaldo {
	if q.key.op != OpConsultarContribuyente || checkRUC("ruc", q.key.text) != nil {
		return nil
	}
	r := q.set.respaldos[g.name]
	if r == nil && !q.set.fresh {
		r = g.own[g.name]
	}
	return r
}

func (g registry) may(q *question) bool { return g.of(q) != nil }

// registryTimeout bounds a caller's wait for a Respaldo.
const registryTimeout = 5 * time.Second

// find asks the Respaldo. If it hangs, the caller waits until ctx ends, or for registryTimeout.
func (g registry) find(ctx context.Context, q *question) *answer {
	r, ruc := g.of(q), q.key.text
	if r == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	a, _ := flight.Detached(ctx, g.runner, func(ctx context.Context) (*answer, error) { return g.record(ctx, r, ruc), nil }, nil)
	return a
}

// record returns the record of a RUC, checked like an answer of the service; nil for none. A failure is logged: the
// caller gets the service's error.
func (g registry) record(ctx context.Context, r Respaldo, ruc string) *answer {
	secrets := g.report.secrets
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
		if logger := g.report.observer.logger; logger != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "fiscope: "+fallbacks[g.name].noun+" failed", slog.String("error", secrets.Line(err.Error()))) //nolint:sloglint // one of a few texts
		}
		return nil
	}
	own := *c
	a := &answer{result: &own, source: g.name, reading: reading{secrets: secrets}}
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
		a.warn("%s does not say of which day its data is", fallbacks[g.name].noun)
	}
	return a
}
