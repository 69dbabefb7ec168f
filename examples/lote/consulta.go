package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
)

// lote is the batch: the RUCs that are left, asked and kept.
type lote struct {
	client       *fiscope.Client
	avance       *avance
	paralelo     int
	sinRespuesta map[string]string // RUC to why; the next run asks again
}

// How long Ctrl-C waits for the queries that are on their way: they are paid.
const gracia = 15 * time.Second

// revision is what is known before anything is spent.
type revision struct {
	filas, hechos, repetidos int
	vencidos                 int      // of the pending ones, those whose answer is too old
	pendientes               []string // each once, in the input's order
	malas                    []fila
	ancho                    int // cells of the widest row
	desde                    time.Time
}

// revisar reads the input, finds its bad rows, and leaves out what was answered before.
func revisar(e *entrada, a *avance) (*revision, error) {
	r := &revision{ancho: len(e.encabezado), desde: a.desde}
	vistos := map[string]struct{}{}
	for f, err := range e.filas() {
		if err != nil {
			return nil, err
		}
		r.filas++
		r.ancho = max(r.ancho, len(f.celdas))
		if f.falla != "" {
			r.malas = append(r.malas, f)
			continue
		}
		if _, visto := vistos[f.ruc]; visto {
			r.repetidos++
			continue
		}
		vistos[f.ruc] = struct{}{}
		if a.tiene(f.ruc) {
			r.hechos++
		} else {
			r.pendientes = append(r.pendientes, f.ruc)
			if a.vencidos[f.ruc] {
				r.vencidos++
			}
		}
	}
	return r, nil
}

// consultar asks for what is left until it is done or something ends it: the quota, the context, a
// service that is down. That is causa; err is a failure of this program's own.
func (l *lote) consultar(ctx context.Context, pendientes []string, p *progreso) (causa, err error) {
	if len(pendientes) == 0 {
		return nil, nil
	}
	defer p.terminar()
	// The context ends the reading of inputs, and the batch then ends by itself once what was asked is
	// answered. Given to the batch, it would abandon up to paralelo queries that are paid.
	seguir, soltar := conGracia(ctx, gracia, func() {
		p.avisar("Deteniendo: espero lo que ya se pidió (otra vez Ctrl-C: salir ya).")
	})
	defer soltar()

	rucs := func(yield func(string) bool) {
		for ruc := range slices.Values(pendientes) {
			if ctx.Err() != nil || !yield(ruc) {
				return
			}
		}
	}
	politica := fiscope.LotePolicy{Concurrency: l.paralelo, Progress: l.avance}
	for r, err := range l.client.Contribuyentes.ConsultarLote(seguir, rucs, politica) {
		var detenido *fiscope.LoteDetenido
		switch {
		case errors.As(err, &detenido):
			return detenido, nil
		case err == nil, errors.Is(err, fiscope.ErrNotFound):
			// Resultado is nil where nobody has that RUC: an answer too, and paid.
			if err := l.avance.guardar(respuesta{r.Entrada, time.Now().UTC(), r.Resultado}); err != nil {
				return nil, fmt.Errorf("no se pudo guardar una respuesta, así que no se consultó más: %w", err)
			}
		default:
			l.sinRespuesta[r.Entrada] = motivo(err)
		}
		p.sumar()
	}
	return ctx.Err(), nil
}

// motivo says in Spanish why a RUC has no answer.
func motivo(err error) string {
	switch {
	case errors.Is(err, fiscope.ErrUnavailable):
		return "el servicio no respondió"
	case errors.Is(err, fiscope.ErrMalformedResponse):
		return "el servicio respondió algo que no es del contrato"
	case errors.Is(err, fiscope.ErrQuotaExceeded):
		return "el servicio pide ir más lento"
	case errors.Is(err, fiscope.ErrInvalidRequest):
		return "el servicio rechaza el RUC"
	}
	return "no se pudo consultar"
}

// conGracia returns a context that ends some time after its parent, and calls aviso in between.
func conGracia(ctx context.Context, d time.Duration, aviso func()) (seguir context.Context, soltar func()) {
	seguir, cancelar := context.WithCancelCause(context.WithoutCancel(ctx))
	avisado := make(chan struct{})
	parar := context.AfterFunc(ctx, func() {
		defer close(avisado)
		aviso()
		time.AfterFunc(d, func() { cancelar(context.Cause(ctx)) })
	})
	return seguir, func() {
		if !parar() {
			<-avisado // nothing is printed after the end
		}
		cancelar(nil)
	}
}
