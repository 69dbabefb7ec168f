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
)

// Contribuyente is a stored taxpayer. Only RUC is required: an empty field with a form has an ordinary value in
// answers. None has the trade name.
type Contribuyente struct {
	RUC                    string `json:"ruc"` // 11 ASCII digits; the check digit is not looked at
	RazonSocial            string `json:"razonSocial"`
	NombreComercial        string `json:"nombreComercial"`
	Estado                 string `json:"estado"`    // in any vocabulary: see Vocabulario
	Condicion              string `json:"condicion"` // HABIDO, NO HABIDO, NO HALLADO, PENDIENTE, or what the registry says
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"` // 6 digits, INEI; "-" is answered as it is, and is not of the contract's form
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

// conforming is the taxpayer as it is answered: with an ordinary value in each field that is empty and has a form or a list
// of values (docs/contract.md, 2.1, 3.1, 3.2). Clients that are made from openapi.yaml cannot read another one.
func (c Contribuyente) conforming() Contribuyente {
	c.Estado = cmp.Or(c.Estado, "ACTIVO")
	c.Condicion = cmp.Or(c.Condicion, "HABIDO")
	c.Ubigeo = cmp.Or(c.Ubigeo, "150101") // Lima
	inscripcion, inicio := c.FechaInscripcion, c.FechaInicioActividades
	c.FechaInscripcion = cmp.Or(inscripcion, onlyDay(inicio), "2000-01-03")
	c.FechaInicioActividades = cmp.Or(inicio, onlyDay(inscripcion), "2000-01-03")
	return c
}

// onlyDay returns a text that is a day, YYYY-MM-DD, and "" for another one.
func onlyDay(text string) string {
	if f, err := fiscope.ParseFecha(text); err == nil {
		return f.String()
	}
	return ""
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
	base Registro // may be nil

	mu   sync.RWMutex // never held while the Registro is asked: it may be slow, or put something here
	over records
	gone map[string]bool // RUCs of base that were deleted
}

// change takes the deleted RUCs away and then puts taxpayers, both checked, in one step.
func (s *contribuyentes) change(deleted []string, put []Contribuyente) {
	list := newRecords(put)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil && s.base != nil {
		s.gone = map[string]bool{}
	}
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

// all returns the taxpayers that were put, in the order of their RUC.
func (s *contribuyentes) all() []Contribuyente {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.over) == 0 {
		return nil
	}
	return s.over.first("", len(s.over), func(string) bool { return false })
}

// deleted returns the RUCs that were deleted, in order.
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

// list returns at most limite taxpayers: those whose RUC begins with texto, and after them those whose name holds it.
func (s *contribuyentes) list(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	var found []Contribuyente
	switch {
	case isRUC(texto):
		c, ok, err := s.porRUC(ctx, texto)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, c)
		}
	case texto == "" || digits(texto):
		found = s.first(texto, limite)
	}
	if texto == "" || len(found) >= limite {
		return found, nil
	}
	named, err := s.buscar(ctx, texto, limite)
	for _, c := range named {
		if len(found) < limite && !slices.ContainsFunc(found, func(f Contribuyente) bool { return f.RUC == c.RUC }) {
			found = append(found, c)
		}
	}
	return found, err
}

// first returns the first taxpayers whose RUC begins with prefijo, by RUC: those that were put, and then those of a
// Registro that is in memory. No other Registro can be asked for them.
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
	// The records lying over and the deleted ones hide few of what is found, at most all of them.
	for more := min(s.hidden(), limite); ; more = 2 * max(1, more, s.hidden()) { // while it is asked, more may be put
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

// hidden is how many records of the Registro those lying over it and the deleted ones can hide.
func (s *contribuyentes) hidden() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.over) + len(s.gone)
}

// merge returns the best of what lies over the Registro and of what the Registro found, in one moment, and
// how many of the latter are not hidden.
func (s *contribuyentes) merge(folded string, limite int, base []Contribuyente) ([]Contribuyente, int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var seen []Contribuyente // a list of its own: that of the Registro is not ours to write into
	for _, c := range base {
		if _, over := s.over[c.RUC]; !over && !s.gone[c.RUC] {
			seen = append(seen, c)
		}
	}
	matches := s.over.search(folded)
	if len(matches) == 0 { // nothing to merge: a Registro's own order stands
		return seen[:min(len(seen), limite)], len(seen)
	}
	for _, r := range newRecords(seen) {
		rank, ok := r.Match(folded)
		if !ok { // the Registro knows a match that this package does not
			rank = relevance.Inside
		}
		matches = append(matches, match{r, rank})
	}
	return best(matches, limite), len(seen)
}
