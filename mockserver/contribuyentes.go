package mockserver

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Contribuyente is a taxpayer as this mock stores it: the fields of docs/contrato.md, 2.1, and the trade
// name, which search also looks at and no answer carries. Its JSON is that of the embedded data files.
//
// Only the RUC is needed. Where the contract gives a field a form or a list of values and the record has "",
// an answer has an ordinary value: ACTIVO, HABIDO, a ubigeo of Lima, a day (that of the other date, if it has
// one). What is there is answered as it is, also where it is not of the contract's form.
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

func (c Contribuyente) check() error {
	if !isRUC(c.RUC) {
		return cannotTake("taxpayer %q: the RUC is not 11 digits", "contribuyente %q: ruc no tiene 11 dígitos", c.RUC)
	}
	return nil
}

// conforming is the taxpayer as it is answered: with an ordinary value in each field that is empty and has a
// form or a list of values in docs/contrato.md, 2.1, 3.1 and 3.2. Clients that are made from openapi.yaml
// cannot read another one.
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
	if text == "" { // as in each record of the registry: its error is not for nothing
		return ""
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return ""
	}
	return text
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
	over fichas
	gone map[string]bool // RUCs of base that were deleted
}

// change takes the deleted RUCs away and then puts taxpayers, both checked, in one step.
func (s *contribuyentes) change(deleted []string, put []Contribuyente) {
	list := newFichas(put)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil && s.base != nil {
		s.gone = map[string]bool{}
	}
	for _, ruc := range deleted {
		s.over.remove(ruc)
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
	cs := append([]Contribuyente(nil), s.over.stored...) // nil when there are none
	slices.SortFunc(cs, func(a, b Contribuyente) int { return strings.Compare(a.RUC, b.RUC) })
	return cs
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
	named, err := s.buscar(ctx, texto, false, limite)
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
			_, over := s.over.byRUC[ruc]
			return over || s.gone[ruc]
		})...)
	}
	return found
}

func (s *contribuyentes) buscar(ctx context.Context, texto string, byWords bool, limite int) ([]Contribuyente, error) {
	query := relevance.NewQuery(texto, byWords)
	if s.base == nil {
		found, _ := s.merge(query, limite, nil)
		return found, nil
	}
	// The records lying over and the deleted ones hide few of what is found, at most all of them.
	for more := min(s.hidden(), limite); ; {
		base, err := s.ask(ctx, texto, query, limite+more)
		if err != nil {
			return nil, err
		}
		found, visible := s.merge(query, limite, base)
		if len(base) < limite+more || visible >= limite {
			return found, nil
		}
		more = 2 * max(1, more, s.hidden()) // while it is asked, more may be put
	}
}

// ask asks the Registro. Of a foreign one only the text can be asked, not by its words.
func (s *contribuyentes) ask(ctx context.Context, texto string, query relevance.Query, limite int) ([]Contribuyente, error) {
	if own, ok := s.base.(*RegistroEnMemoria); ok {
		return own.search(query, limite), nil
	}
	return s.base.Buscar(ctx, texto, limite)
}

// hidden is how many records of the Registro those lying over it and the deleted ones can hide.
func (s *contribuyentes) hidden() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.over.stored) + len(s.gone)
}

// merge returns the best of what lies over the Registro and of what the Registro found, in one moment, and
// how many of the latter are not hidden.
func (s *contribuyentes) merge(query relevance.Query, limite int, base []Contribuyente) (found []Contribuyente, visible int) {
	best := mejores{limite: limite}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var seen []Contribuyente // a list of its own: that of the Registro is not ours to write into
	for _, c := range base {
		if _, over := s.over.byRUC[c.RUC]; !over && !s.gone[c.RUC] {
			seen = append(seen, c)
		}
	}
	s.over.search(query, &best)
	if len(best.found) == 0 { // nothing to merge: a Registro's own order stands
		return seen[:min(len(seen), limite)], len(seen)
	}
	for _, f := range newFichas(seen) {
		rank, ok := query.Match(&f.record)
		if !ok { // the Registro knows a match that this package does not
			rank = relevance.Inside
		}
		best.add(hallazgo{&f.Contribuyente, &f.record, rank})
	}
	return best.contribuyentes(), len(seen)
}
