package mockserver

import (
	"context"
	"sync"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Registro is where the taxpayers come from. Its methods are called concurrently. An error is answered
// with 500 and code MOCK_REGISTRY_FAILURE. Its text is not shown, but what its method Spanish() string says, if
// it has one: the reason, in the language of the answers.
type Registro interface {
	// PorRUC returns the taxpayer with that RUC (11 digits), and whether there is one.
	PorRUC(ctx context.Context, ruc string) (Contribuyente, bool, error)
	// Buscar returns at most limite (1 to 50, or a few more) taxpayers whose business name or trade name
	// holds texto (at least 3 characters, trimmed; 1 under Assumptions.CountBlanks), without regard to case and accents, best first: see
	// RegistroEnMemoria. Server.Contribuyentes asks for as many as it is asked for, also of 1 character.
	Buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error)
}

// RegistroEnMemoria is a Registro that holds its taxpayers in memory. The zero value is empty and ready;
// it is safe for concurrent use.
type RegistroEnMemoria struct {
	mu     sync.RWMutex
	fichas fichas
}

// Put adds taxpayers, or replaces those of the same RUC. When one has a RUC that is not 11 ASCII digits,
// none is taken.
func (m *RegistroEnMemoria) Put(cs ...Contribuyente) error {
	for _, c := range cs {
		if err := c.check(); err != nil {
			return err
		}
	}
	list := newFichas(cs)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fichas.put(list)
	return nil
}

// Delete takes taxpayers away; one that is not there is no error.
func (m *RegistroEnMemoria) Delete(rucs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ruc := range rucs {
		m.fichas.remove(ruc)
	}
}

// PorRUC implements [Registro].
func (m *RegistroEnMemoria) PorRUC(_ context.Context, ruc string) (Contribuyente, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.fichas.find(ruc)
	return c, ok, nil
}

// Buscar implements [Registro]. Results are ordered by relevance: names equal to the text, then those
// that begin with it, then those with a word that begins with it, then the rest; within each, active
// taxpayers first, then shorter names, then by RUC. A limite below 1 finds nothing.
func (m *RegistroEnMemoria) Buscar(_ context.Context, texto string, limite int) ([]Contribuyente, error) {
	return m.search(relevance.NewQuery(texto, false), limite), nil
}

func (m *RegistroEnMemoria) first(prefijo string, limite int, hidden func(ruc string) bool) []Contribuyente {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.fichas.first(prefijo, limite, hidden)
}

func (m *RegistroEnMemoria) search(query relevance.Query, limite int) []Contribuyente {
	best := mejores{limite: limite}
	m.mu.RLock()
	defer m.mu.RUnlock() // not before what was found is copied: a Put would write into it
	m.fichas.search(query, &best)
	return best.contribuyentes()
}
