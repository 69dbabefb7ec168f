package mockserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/relevance"
	"github.com/fiscope/fiscope/internal/scrub"
)

// Contribuyente is a stored taxpayer. Only RUC is required: answers fill empty fields that have a form. The trade name
// is never sent.
type Contribuyente struct {
	RUC                    string `json:"ruc"` // 11 ASCII digits; the check digit is not checked
	RazonSocial            string `json:"razonSocial"`
	NombreComercial        string `json:"nombreComercial"`
	Estado                 string `json:"estado"`    // in any vocabulary: see Vocabulario
	Condicion              string `json:"condicion"` // HABIDO, NO HABIDO, NO HALLADO, PENDIENTE, or what the registry says
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"` // 6 digits, INEI; "-" is sent as it is, though the contract's form excludes it
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`       // YYYY-MM-DD; "-" as in Ubigeo
	FechaInicioActividades string `json:"fechaInicioActividades"` // YYYY-MM-DD; "-" as in Ubigeo
}

func (c Contribuyente) id() string { return c.RUC }

func (c Contribuyente) check() error {
	if !isRUC(c.RUC) {
		return fmt.Errorf("contribuyente %q: ruc no tiene 11 dígitos", c.RUC)
	}
	return nil
}

// conforming returns the taxpayer with an ordinary value in each empty field that has a form or a list of values
// (docs/contract.md, 2.1, 3.1, 3.2). Clients generated from openapi.yaml cannot read other values.
func (c Contribuyente) conforming() Contribuyente {
	c.Estado = cmp.Or(c.Estado, "ACTIVO")
	c.Condicion = cmp.Or(c.Condicion, "HABIDO")
	c.Ubigeo = cmp.Or(c.Ubigeo, "150101") // Lima
	inscripcion, inicio := c.FechaInscripcion, c.FechaInicioActividades
	c.FechaInscripcion = cmp.Or(inscripcion, onlyDay(inicio), "2000-01-03")
	c.FechaInicioActividades = cmp.Or(inicio, onlyDay(inscripcion), "2000-01-03")
	return c
}

// onlyDay returns a date, YYYY-MM-DD, unchanged, and "" for any other text.
func onlyDay(text string) string {
	if f, err := fiscope.ParseFecha(text); err == nil {
		return f.String()
	}
	return ""
}

// isRUC reports whether s is 11 ASCII digits, the contract's only rule for a RUC.
func isRUC(s string) bool { return len(s) == 11 && scrub.Digits(s) }

// contribuyentes are the taxpayers of one server: those set on it, over a Registro that it never changes (the default data,
// shared by all servers, or WithRegistro's), except those deleted.
type contribuyentes struct {
	base Registro // may be nil

	mu   sync.RWMutex // never held during a call to the Registro: it may be slow, or call a setter
	over taxpayers
	gone map[string]bool // deleted RUCs of base
}

// change deletes RUCs, then adds taxpayers, both valid, in one step.
func (s *contribuyentes) change(deleted []string, put []Contribuyente) {
	list := newTaxpayers(put)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ruc := range deleted {
		delete(s.over, ruc)
		if s.base != nil {
			s.gone[ruc] = true
		}
	}
	s.over.put(list)
	for _, c := range put {
		delete(s.gone, c.RUC)
	}
}

// all returns the taxpayers that were set, sorted by RUC.
func (s *contribuyentes) all() []Contribuyente {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.over) == 0 {
		return nil
	}
	return s.over.first("", len(s.over), func(string) bool { return false })
}

// deleted returns the deleted RUCs, sorted.
func (s *contribuyentes) deleted() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.gone))
}

func (s *contribuyentes) porRUC(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	s.mu.RLock()
	c, ok := s.over.find(ruc)
	gone := s.gone[ruc]
	s.mu.RUnlock()
	if ok || gone || s.base == nil {
		return c, ok, nil
	}
	return s.base.PorRUC(ctx, ruc)
}

// first returns the first taxpayers whose RUC begins with prefijo, sorted by RUC: those that were set, then those of a
// Registro in memory. Other registries cannot be asked for them.
func (s *contribuyentes) first(prefijo string, limite int) []Contribuyente {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := s.over.first(prefijo, limite, func(string) bool { return false })
	if base, ok := s.base.(*RegistroEnMemoria); ok {
		found = append(found, base.first(prefijo, limite-len(found), func(ruc string) bool {
			_, over := s.over[ruc]
			return over || s.gone[ruc]
		})...)
	}
	return found
}

func (s *contribuyentes) buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	folded := relevance.Fold(texto)
	if s.base == nil {
		found, _ := s.merge(folded, limite, nil)
		return found, nil
	}
	// At most all set and deleted taxpayers hide results of the Registro; usually few do.
	for more := min(s.hidden(), limite); ; more = 2 * max(1, more, s.hidden()) { // more may be added meanwhile
		base, err := s.base.Buscar(ctx, texto, limite+more)
		if err != nil {
			return nil, err
		}
		found, visible := s.merge(folded, limite, base)
		if len(base) < limite+more || visible >= limite {
			return found, nil
		}
	}
}

// hidden returns how many taxpayers of the Registro can be hidden at most.
func (s *contribuyentes) hidden() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.over) + len(s.gone)
}

// merge returns the best of the taxpayers set here and of the Registro's results, and how many of the latter are not
// hidden.
func (s *contribuyentes) merge(folded string, limite int, base []Contribuyente) ([]Contribuyente, int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var seen []Contribuyente // a copy: the Registro's list must not be modified
	for _, c := range base {
		if _, over := s.over[c.RUC]; !over && !s.gone[c.RUC] {
			seen = append(seen, c)
		}
	}
	matches := s.over.search(folded)
	if len(matches) == 0 { // nothing to merge: keep the Registro's order
		return seen[:min(len(seen), limite)], len(seen)
	}
	for _, r := range newTaxpayers(seen) {
		rank, ok := r.Match(folded)
		if !ok { // the Registro's match is unknown to this package
			rank = relevance.Inside
		}
		matches = append(matches, match{r, rank})
	}
	return best(matches, limite), len(seen)
}
