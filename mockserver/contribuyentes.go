package mockserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope/mockserver/internal/relevance"
)

// Contribuyente is a taxpayer as this mock stores it: the fields of docs/contrato.md, 2.1, and the trade
// name, which search also looks at and no answer carries. Its JSON is that of the embedded data files.
type Contribuyente struct {
	RUC                    string `json:"ruc"` // 11 ASCII digits; the check digit is not looked at
	RazonSocial            string `json:"razonSocial"`
	NombreComercial        string `json:"nombreComercial"`
	Estado                 string `json:"estado"`    // in any vocabulary: see Vocabulario
	Condicion              string `json:"condicion"` // HABIDO, NO HABIDO, NO HALLADO, PENDIENTE, or what the registry says
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"` // 6 digits, INEI
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`       // YYYY-MM-DD, or "-" where the registry has none
	FechaInicioActividades string `json:"fechaInicioActividades"` // YYYY-MM-DD, or "-"
}

func (c Contribuyente) check() error {
	if !isRUC(c.RUC) {
		return fmt.Errorf("taxpayer %q: the RUC is not 11 digits", c.RUC)
	}
	return nil
}

// isRUC reports whether s is 11 ASCII digits, all that the contract asks of a RUC.
func isRUC(s string) bool { return len(s) == 11 && digits(s) }

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// contribuyentes are the taxpayers of one server: those put on it, over a Registro that it never changes
// (the default data, which all servers read, or the one of WithRegistro), without those deleted.
type contribuyentes struct {
	over RegistroEnMemoria
	base Registro // may be nil

	mu   sync.Mutex
	gone atomic.Pointer[map[string]bool] // RUCs of base that were deleted; never written, nil for none
}

// put takes taxpayers that were checked.
func (s *contribuyentes) put(cs ...Contribuyente) {
	_ = s.over.Put(cs...) // could report only a wrong RUC
	for _, c := range cs {
		s.setGone(c.RUC, false)
	}
}

func (s *contribuyentes) remove(rucs ...string) {
	s.over.Delete(rucs...)
	for _, ruc := range rucs {
		s.setGone(ruc, s.base != nil)
	}
}

func (s *contribuyentes) setGone(ruc string, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isGone(ruc) == gone {
		return
	}
	next := map[string]bool{}
	if old := s.gone.Load(); old != nil {
		maps.Copy(next, *old)
	}
	if delete(next, ruc); gone {
		next[ruc] = true
	}
	s.gone.Store(&next)
}

func (s *contribuyentes) isGone(ruc string) bool {
	gone := s.gone.Load()
	return gone != nil && (*gone)[ruc]
}

// deleted returns the RUCs that were deleted, in order.
func (s *contribuyentes) deleted() []string {
	gone := s.gone.Load()
	if gone == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(*gone))
}

func (s *contribuyentes) porRUC(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	c, ok, err := s.over.PorRUC(ctx, ruc)
	if ok || err != nil || s.base == nil || s.isGone(ruc) {
		return c, ok, err
	}
	return s.base.PorRUC(ctx, ruc)
}

func (s *contribuyentes) buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	over, err := s.over.Buscar(ctx, texto, limite)
	if err != nil || s.base == nil {
		return over, err
	}
	// Ask for as many more as the records lying over and the deleted ones can hide.
	hidden := s.over.len()
	if gone := s.gone.Load(); gone != nil {
		hidden += len(*gone)
	}
	base, err := s.base.Buscar(ctx, texto, limite+hidden)
	if err != nil {
		return nil, err
	}
	base = slices.DeleteFunc(base, func(c Contribuyente) bool { return s.over.has(c.RUC) || s.isGone(c.RUC) })
	if len(over) == 0 { // nothing to merge: a Registro's own order stands
		return base[:min(len(base), limite)], nil
	}
	var found []hallazgo
	folded := relevance.Fold(texto)
	for _, c := range slices.Concat(over, base) {
		f := newFicha(c)
		rank, ok := f.record.Match(folded)
		if !ok { // the Registro knows a match that this package does not
			rank = relevance.Inside
		}
		found = append(found, hallazgo{&f, rank})
	}
	return best(found, limite), nil
}
