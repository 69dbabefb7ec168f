package mockserver

import (
	"cmp"
	"context"
	"errors"

	"github.com/fiscope/fiscope"
)

// Padron is an index of SUNAT's registry, such as a *padron.Index.
type Padron interface {
	fiscope.Respaldo
	Buscar(ctx context.Context, texto string, limite int) ([]fiscope.Contribuyente, error)
}

// WithPadron is [WithRegistro] for an index. Close it after the server.
func WithPadron(index Padron) Option {
	return setUnless(index == nil, "WithPadron: el índice es nil", func(c *config) { c.registro = padronRegistro{index} })
}

// padronRegistro adapts an index to Registro.
type padronRegistro struct{ index Padron }

// PorRUC implements [Registro].
func (r padronRegistro) PorRUC(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	c, _, err := r.index.Contribuyente(ctx, ruc)
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		return Contribuyente{}, false, nil
	case err != nil:
		return Contribuyente{}, false, padronFailed{err}
	}
	return fromPadron(c), true, nil
}

// Buscar implements [Registro].
func (r padronRegistro) Buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	cs, err := r.index.Buscar(ctx, texto, limite)
	if err != nil {
		return nil, padronFailed{err}
	}
	found := make([]Contribuyente, len(cs))
	for i := range cs {
		found[i] = fromPadron(&cs[i])
	}
	return found, nil
}

// fromPadron converts a taxpayer. Fields that the registry lacks are "-": for an empty one the mock would invent an estado or
// a day.
func fromPadron(c *fiscope.Contribuyente) Contribuyente {
	return Contribuyente{
		RUC:                    c.RUC,
		RazonSocial:            c.RazonSocial,
		Estado:                 cmp.Or(string(c.Estado), "-"),
		Condicion:              cmp.Or(string(c.Condicion), "-"),
		Direccion:              c.Direccion,
		Ubigeo:                 cmp.Or(c.Ubigeo, "-"),
		Departamento:           c.Departamento,
		Provincia:              c.Provincia,
		Distrito:               c.Distrito,
		Tipo:                   "-",
		ActividadEconomica:     "-",
		FechaInscripcion:       "-",
		FechaInicioActividades: "-",
	}
}

// padronFailed is an index's error.
type padronFailed struct{ error }

func (f padronFailed) Unwrap() error { return f.error }

// Spanish returns the reason that an answer shows.
func (padronFailed) Spanish() string {
	return "el índice del padrón está cerrado, o fue sobrescrito, cortado o dañado: créelo de nuevo con fiscope-mock padron import"
}
