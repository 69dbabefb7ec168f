package mockserver

import (
	"slices"
	"strings"

	"github.com/fiscope/fiscope/internal/relevance"
)

// ficha is a taxpayer with what a search looks at.
type ficha struct {
	Contribuyente
	record relevance.Record
}

func newFicha(c Contribuyente) ficha {
	return ficha{c, relevance.NewRecord(c.RUC, c.RazonSocial, c.NombreComercial, c.conforming().Estado)}
}

// newFichas folds the names of many taxpayers, which takes time: call it before the lock of the fichas.
func newFichas(cs []Contribuyente) []ficha {
	list := make([]ficha, len(cs))
	for i, c := range cs {
		list[i] = newFicha(c)
	}
	return list
}

// fichas are taxpayers in memory. Who holds them locks them.
type fichas struct {
	byRUC   map[string]int
	stored  []Contribuyente
	records []relevance.Record // of stored; a search that finds nothing reads nothing else
}

// put adds taxpayers, or replaces those of the same RUC.
func (fs *fichas) put(list []ficha) {
	if fs.byRUC == nil {
		fs.byRUC = make(map[string]int, len(list))
	}
	for _, f := range list {
		if i, ok := fs.byRUC[f.RUC]; ok {
			fs.stored[i], fs.records[i] = f.Contribuyente, f.record
			continue
		}
		fs.byRUC[f.RUC] = len(fs.stored)
		fs.stored, fs.records = append(fs.stored, f.Contribuyente), append(fs.records, f.record)
	}
}

// remove takes a taxpayer away, if it is there.
func (fs *fichas) remove(ruc string) {
	i, ok := fs.byRUC[ruc]
	if !ok {
		return
	}
	last := len(fs.stored) - 1
	fs.stored[i], fs.records[i] = fs.stored[last], fs.records[last]
	fs.byRUC[fs.stored[i].RUC] = i
	fs.stored[last], fs.records[last] = Contribuyente{}, relevance.Record{}
	fs.stored, fs.records = fs.stored[:last], fs.records[:last]
	delete(fs.byRUC, ruc)
}

func (fs *fichas) find(ruc string) (Contribuyente, bool) {
	i, ok := fs.byRUC[ruc]
	if !ok {
		return Contribuyente{}, false
	}
	return fs.stored[i], true
}

// first returns the limite taxpayers with the lowest RUCs of those whose RUC begins with prefijo, without those
// that are hidden.
func (fs *fichas) first(prefijo string, limite int, hidden func(ruc string) bool) []Contribuyente {
	var rucs []string
	for ruc := range fs.byRUC {
		if strings.HasPrefix(ruc, prefijo) && !hidden(ruc) {
			rucs = append(rucs, ruc)
		}
	}
	slices.Sort(rucs)
	cs := make([]Contribuyente, min(len(rucs), limite))
	for i := range cs {
		cs[i] = fs.stored[fs.byRUC[rucs[i]]]
	}
	return cs
}

// search adds to best what a query finds.
func (fs *fichas) search(query relevance.Query, best *mejores) {
	for i := range fs.records {
		if rank, ok := query.Match(&fs.records[i]); ok {
			best.add(hallazgo{&fs.stored[i], &fs.records[i], rank})
		}
	}
}

// hallazgo is a taxpayer that a search found.
type hallazgo struct {
	*Contribuyente
	record *relevance.Record
	rank   relevance.Rank
}

func (h hallazgo) compare(other hallazgo) int {
	return relevance.Compare(h.record, h.rank, other.record, other.rank)
}

// mejores are the limite most relevant of what a search finds: it may find a hundred thousand and show ten.
type mejores struct {
	limite int
	found  []hallazgo // at most twice limite, of which the worse half goes when they are that many
	cut    bool       // it went before: nothing worse than found[limite-1] is among the best
}

func (m *mejores) add(h hallazgo) {
	switch {
	case m.limite <= 0, m.cut && h.compare(m.found[m.limite-1]) >= 0:
		return
	}
	if m.found = append(m.found, h); len(m.found)/2 >= m.limite {
		m.sort()
		m.cut = true
	}
}

func (m *mejores) sort() {
	slices.SortFunc(m.found, hallazgo.compare)
	m.found = m.found[:min(len(m.found), max(0, m.limite))]
}

// contribuyentes returns copies of them, in order.
func (m *mejores) contribuyentes() []Contribuyente {
	m.sort()
	cs := make([]Contribuyente, len(m.found))
	for i, h := range m.found {
		cs[i] = *h.Contribuyente
	}
	return cs
}
