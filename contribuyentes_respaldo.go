package fiscope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/scrub"
)

// enRespaldo is what a Respaldo has of a RUC.
type enRespaldo struct {
	contribuyente Contribuyente
	fecha         Fecha // of the data; zero where it is not known
	warnings      []string
}

// standIn returns what the respaldo of a call has in the place of the service, which cannot be asked because of
// err, and marks it as that. It returns nil where err stands.
func (s *ContribuyentesService) standIn(ctx context.Context, ruc string, set *settings, err error) *Contribuyente {
	r := set.respaldo
	if r == nil && !set.fresh {
		r = s.respaldo
	}
	if r == nil || !cannotBeAsked(err) || ctx.Err() != nil {
		return nil
	}
	start := time.Now()
	found := s.asker.inRespaldo(ctx, r, ruc)
	if found == nil || ctx.Err() != nil {
		return nil
	}
	took := time.Since(start)
	s.asker.observer.standIn(ctx, Event{Op: OpConsultarContribuyente, Duration: took, Warnings: found.warnings, FromRespaldo: true, FechaRespaldo: found.fecha})
	if set.response != nil {
		set.response.FromRespaldo, set.response.FechaRespaldo = true, found.fecha
		set.response.Warnings = append(set.response.Warnings, found.warnings...)
		set.response.Duration += took
	}
	if set.instead != nil {
		*set.instead = err
	}
	return &found.contribuyente
}

// inRespaldo returns what r has, and nil for nothing, or where ctx ends first.
func (s *sender) inRespaldo(ctx context.Context, r Respaldo, ruc string) *enRespaldo {
	brought := make(chan *enRespaldo, 1) // nobody may be waiting any more
	s.start(func() {
		var found *enRespaldo
		broken.Run(func() { found = s.askRespaldo(ctx, r, ruc) }, func(off *broken.Off) {
			if off != nil && off.Panic != nil {
				s.lost("fiscope: the Respaldo panicked", off.Panic)
			}
			brought <- found
		})
	})
	select {
	case found := <-brought:
		return found
	case <-ctx.Done():
		return nil
	}
}

// askRespaldo returns what r has, and nil for nothing. Why it failed is logged: the caller gets the service's error.
func (s *sender) askRespaldo(ctx context.Context, r Respaldo, ruc string) *enRespaldo {
	c, fecha, err := r.Contribuyente(ctx, ruc)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && c == nil:
		return nil
	case err == nil:
		found := &enRespaldo{contribuyente: *c, fecha: fecha}
		if err = s.checkRecord(ruc, found); err == nil {
			return found
		}
	}
	if logger := s.observer.logger; logger != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "fiscope: the Respaldo failed", slog.String("error", s.secrets.Line(err.Error())))
	}
	return nil
}

// checkRecord reads what a respaldo has with the care of an answer.
func (s *sender) checkRecord(ruc string, found *enRespaldo) error {
	c := &found.contribuyente
	switch {
	case c.RUC != ruc:
		return fmt.Errorf("asked for the RUC %s, its record is of %s", scrub.AbridgeRUC(ruc), scrub.AbridgeRUC(c.RUC))
	case nameless(c.RazonSocial):
		return fmt.Errorf("its record of the RUC %s has no name", scrub.AbridgeRUC(ruc))
	}
	a := answer{reading: s.reading(nil)}
	checkTaxpayer(&a, c.RazonSocial, c.Estado, c.Condicion)
	for _, f := range c.fechas() {
		if !f.IsZero() && !f.Valid() {
			a.warn("a date of the taxpayer is not a day of the calendar: %s", f)
			*f = Fecha{}
		}
	}
	if !found.fecha.Valid() {
		a.warn("the Respaldo does not say of which day its data is")
		found.fecha = Fecha{}
	}
	found.warnings = a.warnings
	return nil
}
