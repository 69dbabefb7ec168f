package mockserver

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/fiscope/fiscope/mockserver/internal/relevance"
)

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

// ficha is a taxpayer as it is stored, with what a search looks at.
type ficha struct {
	Contribuyente
	record relevance.Record
}

func newFicha(c Contribuyente) ficha {
	return ficha{c, relevance.NewRecord(c.RUC, c.RazonSocial, c.NombreComercial, c.Estado)}
}

// hallazgo is a taxpayer that a search found.
type hallazgo struct {
	*ficha
	rank relevance.Rank
}

// best returns the limite most relevant, in order.
func best(found []hallazgo, limite int) []Contribuyente {
	slices.SortFunc(found, func(a, b hallazgo) int { return relevance.Compare(&a.record, a.rank, &b.record, b.rank) })
	cs := make([]Contribuyente, 0, min(len(found), limite))
	for _, h := range found[:min(len(found), limite)] {
		cs = append(cs, h.Contribuyente)
	}
	return cs
}

// Put adds taxpayers, or replaces those of the same RUC. When one has a RUC that is not 11 ASCII digits,
// none is taken.
func (m *RegistroEnMemoria) Put(cs ...Contribuyente) error {
	for _, c := range cs {
		if err := c.check(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byRUC == nil {
		m.byRUC = make(map[string]int, len(cs))
	}
	for _, c := range cs {
		f := newFicha(c)
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
	var found []hallazgo
	folded := relevance.Fold(texto)
	m.mu.RLock()
	defer m.mu.RUnlock() // not before best has copied what was found
	for i := range m.stored {
		if rank, ok := m.stored[i].record.Match(folded); ok {
			found = append(found, hallazgo{&m.stored[i], rank})
		}
	}
	return best(found, limite), nil
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

func (m *RegistroEnMemoria) has(ruc string) bool {
	_, ok, _ := m.PorRUC(context.Background(), ruc)
	return ok
}

func (m *RegistroEnMemoria) len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.stored)
}
