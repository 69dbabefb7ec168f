package mockserver

import (
	"context"
	"slices"
)

// padron is the taxpayers of a server: what was put on it, over a Registro that it never changes (the
// default data, which all servers read, or the one of WithRegistro).
type padron struct {
	over RegistroEnMemoria
	base Registro // may be nil
}

func (p *padron) porRUC(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	c, ok, err := p.over.PorRUC(ctx, ruc)
	if ok || err != nil || p.base == nil {
		return c, ok, err
	}
	return p.base.PorRUC(ctx, ruc)
}

func (p *padron) buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	over, err := p.over.Buscar(ctx, texto, limite)
	if err != nil || p.base == nil {
		return over, err
	}
	// Ask for as many more as the records lying over can hide.
	base, err := p.base.Buscar(ctx, texto, limite+p.over.len())
	if err != nil {
		return nil, err
	}
	base = slices.DeleteFunc(base, func(c Contribuyente) bool { return p.over.has(c.RUC) })
	if len(over) == 0 { // nothing to merge: a Registro's own order stands
		return base[:min(len(base), limite)], nil
	}
	var hits []hallazgo
	folded := fold(texto)
	for _, c := range slices.Concat(over, base) {
		f := ficha{c, fold(c.RazonSocial), fold(c.NombreComercial)}
		h, ok := f.match(folded)
		if !ok { // the Registro knows a match that this package does not
			h = hallazgo{&f, dentro}
		}
		hits = append(hits, h)
	}
	return best(hits, limite), nil
}
