package mockserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Contribuyente is a taxpayer as this mock stores it: the fields of service.md 2.1, and the trade name,
// which search also looks at and no answer carries. Its JSON is that of the embedded data files.
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

// Registro is where the taxpayers come from. Its methods are called concurrently. An error is answered
// with 500 and code MOCK_REGISTRY_FAILURE, and its text is not shown.
type Registro interface {
	// PorRUC returns the taxpayer with that RUC (11 digits), and whether there is one.
	PorRUC(ctx context.Context, ruc string) (Contribuyente, bool, error)
	// Buscar returns at most limite (1 to 50, or a few more) taxpayers whose business name or trade name
	// holds texto (at least 3 characters, trimmed), without regard to case and accents, best first: see
	// RegistroEnMemoria.
	Buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error)
}

// RegistroEnMemoria is a Registro that holds its taxpayers in memory. The zero value is empty and ready;
// it is safe for concurrent use.
type RegistroEnMemoria struct {
	mu     sync.RWMutex
	byRUC  map[string]int
	stored []ficha
}

// ficha is a taxpayer with its names folded once, when stored.
type ficha struct {
	Contribuyente
	razon, comercial string
}

// Put adds taxpayers, or replaces those of the same RUC. When one has a RUC that is not 11 ASCII digits,
// none is taken.
func (m *RegistroEnMemoria) Put(cs ...Contribuyente) error {
	if err := firstError(cs, Contribuyente.check); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byRUC == nil {
		m.byRUC = make(map[string]int, len(cs))
	}
	for _, c := range cs {
		f := ficha{c, fold(c.RazonSocial), fold(c.NombreComercial)}
		if i, ok := m.byRUC[c.RUC]; ok {
			m.stored[i] = f
			continue
		}
		m.byRUC[c.RUC] = len(m.stored)
		m.stored = append(m.stored, f)
	}
	return nil
}

// Delete takes taxpayers away; one that is not there is no error.
func (m *RegistroEnMemoria) Delete(rucs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ruc := range rucs {
		i, ok := m.byRUC[ruc]
		if !ok {
			continue
		}
		last := len(m.stored) - 1
		m.stored[i] = m.stored[last]
		m.byRUC[m.stored[i].RUC] = i
		m.stored[last] = ficha{}
		m.stored = m.stored[:last]
		delete(m.byRUC, ruc)
	}
}

// PorRUC implements [Registro].
func (m *RegistroEnMemoria) PorRUC(_ context.Context, ruc string) (Contribuyente, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	i, ok := m.byRUC[ruc]
	if !ok {
		return Contribuyente{}, false, nil
	}
	return m.stored[i].Contribuyente, true, nil
}

// Buscar implements [Registro]. Results are ordered by relevance: names equal to the text, then those
// that begin with it, then those with a word that begins with it, then the rest; within each, active
// taxpayers first, then shorter names, then by RUC.
func (m *RegistroEnMemoria) Buscar(_ context.Context, texto string, limite int) ([]Contribuyente, error) {
	var hits []hallazgo
	texto = fold(texto)
	m.mu.RLock()
	for i := range m.stored {
		if h, ok := m.stored[i].match(texto); ok {
			hits = append(hits, h)
		}
	}
	m.mu.RUnlock()
	return best(hits, limite), nil
}

// all returns the taxpayers in the order of their RUC.
func (m *RegistroEnMemoria) all() []Contribuyente {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var cs []Contribuyente
	for _, f := range m.stored {
		cs = append(cs, f.Contribuyente)
	}
	slices.SortFunc(cs, func(a, b Contribuyente) int { return strings.Compare(a.RUC, b.RUC) })
	return cs
}

func (c Contribuyente) check() error {
	if !isRUC(c.RUC) {
		return fmt.Errorf("taxpayer %q: the RUC is not 11 digits", c.RUC)
	}
	return nil
}

func (m *RegistroEnMemoria) has(ruc string) bool {
	_, ok, _ := m.PorRUC(context.Background(), ruc)
	return ok
}

func (m *RegistroEnMemoria) len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.stored)
}
