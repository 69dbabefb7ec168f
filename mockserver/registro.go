package mockserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Registro is a source of taxpayers. It is called concurrently. The answer to an error is a 500, with the text of its method
// Spanish() string.
type Registro interface {
	// PorRUC returns the taxpayer with a RUC (11 digits), and whether it exists.
	PorRUC(ctx context.Context, ruc string) (Contribuyente, bool, error)
	// Buscar returns at most limite taxpayers whose name contains texto (trimmed), ignoring case and accents, best first.
	Buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error)
}

// RegistroEnMemoria is a [Registro] in memory. The zero value is ready.
type RegistroEnMemoria struct {
	mu        sync.RWMutex
	taxpayers taxpayers
}

// Put adds or replaces taxpayers. If a RUC is not 11 digits, it adds none.
func (m *RegistroEnMemoria) Put(cs ...Contribuyente) error {
	for _, c := range cs {
		if err := c.check(); err != nil {
			return err
		}
	}
	list := newTaxpayers(cs)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taxpayers.put(list)
	return nil
}

// PorRUC implements [Registro].
func (m *RegistroEnMemoria) PorRUC(_ context.Context, ruc string) (Contribuyente, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.taxpayers.find(ruc)
	return c, ok, nil
}

// Buscar implements [Registro]: first names equal to the text, then those that begin with it, then those with such a
// word. Ties: active first, then short.
func (m *RegistroEnMemoria) Buscar(_ context.Context, texto string, limite int) ([]Contribuyente, error) {
	m.mu.RLock()
	found := m.taxpayers.search(relevance.Fold(texto))
	m.mu.RUnlock() // taxpayers are never modified
	return best(found, limite), nil
}

func (m *RegistroEnMemoria) first(prefijo string, limite int, hidden func(ruc string) bool) []Contribuyente {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.taxpayers.first(prefijo, limite, hidden)
}

// taxpayer is a record with its folded names, for searches.
type taxpayer struct {
	Contribuyente
	relevance.Record
}

// newTaxpayers folds the names of many taxpayers, which takes time: call it without the lock.
func newTaxpayers(cs []Contribuyente) []*taxpayer {
	list := make([]*taxpayer, len(cs))
	for i, c := range cs {
		list[i] = &taxpayer{c, relevance.NewRecord(c.RUC, c.RazonSocial, c.NombreComercial, c.conforming().Estado)}
	}
	return list
}

// taxpayers are those in memory, by RUC. Their owner locks them.
type taxpayers map[string]*taxpayer

// put adds taxpayers, or replaces those with the same RUC.
func (rs *taxpayers) put(list []*taxpayer) {
	if *rs == nil {
		*rs = make(taxpayers, len(list))
	}
	for _, r := range list {
		(*rs)[r.RUC] = r
	}
}

func (rs taxpayers) find(ruc string) (Contribuyente, bool) {
	if r, ok := rs[ruc]; ok {
		return r.Contribuyente, true
	}
	return Contribuyente{}, false
}

// first returns the limite taxpayers with the lowest RUCs that begin with prefijo and are not hidden.
func (rs taxpayers) first(prefijo string, limite int, hidden func(ruc string) bool) []Contribuyente {
	var rucs []string
	for ruc := range rs {
		if strings.HasPrefix(ruc, prefijo) && !hidden(ruc) {
			rucs = append(rucs, ruc)
		}
	}
	slices.Sort(rucs)
	cs := make([]Contribuyente, min(len(rucs), limite))
	for i := range cs {
		cs[i] = rs[rucs[i]].Contribuyente
	}
	return cs
}

// search returns the matches of a folded text, in no order.
func (rs taxpayers) search(folded string) (found []match) {
	for _, r := range rs {
		if rank, ok := r.Match(folded); ok {
			found = append(found, match{r, rank})
		}
	}
	return found
}

// match is a search's match.
type match struct {
	*taxpayer
	rank relevance.Rank
}

// best returns the limite most relevant taxpayers, in order.
func best(found []match, limite int) []Contribuyente {
	slices.SortFunc(found, func(a, b match) int { return relevance.Compare(&a.Record, a.rank, &b.Record, b.rank) })
	cs := make([]Contribuyente, min(len(found), max(0, limite)))
	for i := range cs {
		cs[i] = found[i].Contribuyente
	}
	return cs
}

// registroFailed returns the answer if a [Registro] fails.
func registroFailed(err error) answer {
	reason := "devolvió un error: revise su implementación"
	if failed := interface{ Spanish() string }(nil); errors.As(err, &failed) {
		reason = "no responde: " + failed.Spanish()
	}
	return refusal(http.StatusInternalServerError, codeRegistroDown, "el Registro que se dio a este servidor de pruebas %s", reason)
}
