package mockserver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// padron is the taxpayers of a server: what was put on it, over a Registro that it never changes (the
// default data, which all servers read, or the one of WithRegistro), without what was deleted.
type padron struct {
	over RegistroEnMemoria
	base Registro // may be nil

	mu   sync.Mutex
	gone atomic.Pointer[map[string]bool] // RUCs of base that were deleted; never written, nil for none
}

func (p *padron) put(cs ...Contribuyente) error {
	if err := p.over.Put(cs...); err != nil {
		return err
	}
	for _, c := range cs {
		p.setGone(c.RUC, false)
	}
	return nil
}

func (p *padron) remove(rucs ...string) {
	p.over.Delete(rucs...)
	for _, ruc := range rucs {
		p.setGone(ruc, p.base != nil)
	}
}

func (p *padron) setGone(ruc string, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isGone(ruc) == gone {
		return
	}
	next := map[string]bool{}
	if old := p.gone.Load(); old != nil {
		maps.Copy(next, *old)
	}
	if delete(next, ruc); gone {
		next[ruc] = true
	}
	p.gone.Store(&next)
}

func (p *padron) isGone(ruc string) bool {
	gone := p.gone.Load()
	return gone != nil && (*gone)[ruc]
}

// deleted returns the RUCs that were deleted, in order.
func (p *padron) deleted() []string {
	gone := p.gone.Load()
	if gone == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(*gone))
}

func (p *padron) porRUC(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	c, ok, err := p.over.PorRUC(ctx, ruc)
	if ok || err != nil || p.base == nil || p.isGone(ruc) {
		return c, ok, err
	}
	return p.base.PorRUC(ctx, ruc)
}

func (p *padron) buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	over, err := p.over.Buscar(ctx, texto, limite)
	if err != nil || p.base == nil {
		return over, err
	}
	// Ask for as many more as the records lying over and the deleted ones can hide.
	hidden := p.over.len()
	if gone := p.gone.Load(); gone != nil {
		hidden += len(*gone)
	}
	base, err := p.base.Buscar(ctx, texto, limite+hidden)
	if err != nil {
		return nil, err
	}
	base = slices.DeleteFunc(base, func(c Contribuyente) bool { return p.over.has(c.RUC) || p.isGone(c.RUC) })
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
