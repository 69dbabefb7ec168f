package padron

import (
	"maps"
	"slices"
	"sync"
)

// The types of streets and zones, frequent ones first; the street's column is four wide.
var (
	viasGeneradas  = []string{"AV.", "CAL.", "JR.", "----", "PJ.", "CAR.", "PQ.", "-", "PRO.", "MAL."}
	zonasGeneradas = []string{"URB.", "----", "A.H.", "-.-", "ASC.", "P.J.", "RES.", "COO.", "GRU.", "CAS.", "Z.I."}
)

// cutAt is the length at which the registry cuts the names of streets and zones.
const cutAt = 25

// distritos are the codes of districts: of Lima, where every other company is, and of the whole country.
var distritos = sync.OnceValue(func() (d struct{ lima, peru []string }) {
	for _, code := range slices.Sorted(maps.Keys(ubigeos())) {
		if len(code) == 6 {
			d.peru = append(d.peru, code)
			if code[:4] == "1501" {
				d.lima = append(d.lima, code)
			}
		}
	}
	return d
})

// ubigeo returns a district's code; a few are unknown, and a few are missing.
func (g *generator) ubigeo() string {
	switch v := g.IntN(2000); {
	case v == 0:
		return "-"
	case v == 1:
		return "150199"
	case v == 2:
		return "990101"
	case v < 1000:
		return pick(g, distritos().lima)
	}
	return pick(g, distritos().peru)
}

// domicilio writes the ten columns of an address.
func (g *generator) domicilio() {
	lotes := g.IntN(4) == 0 // a block and a lot, and no street
	if lotes {
		g.text = append(g.text, "----|-|"...)
	} else {
		g.text = append(g.text, pick(g, viasGeneradas)...)
		g.text = append(g.text, '|')
		g.lugar()
	}
	if g.IntN(5) < 3 {
		g.text = append(g.text, "----|-|"...)
	} else {
		g.text = append(g.text, pick(g, zonasGeneradas)...)
		g.text = append(g.text, '|')
		g.lugar()
	}
	switch { // NÚMERO
	case lotes:
		g.text = append(g.text, '-')
	case g.IntN(10) == 0:
		g.text = append(g.text, "S/N"...)
	default:
		g.number(4000)
	}
	g.text = append(g.text, '|')
	g.maybe(8, func() { g.number(600) }) // INTERIOR
	if lotes {
		g.number(60)
	} else {
		g.text = append(g.text, '-')
	}
	g.text = append(g.text, '|')
	g.maybe(10, func() { g.number(900) }) // DEPARTAMENTO
	if lotes {
		g.text = append(g.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[g.IntN(26)])
	} else {
		g.text = append(g.text, '-')
	}
	g.text = append(g.text, '|')
	g.maybe(60, func() { g.number(1200) }) // KILÓMETRO
}

// lugar writes the name of a street or a zone.
func (g *generator) lugar() {
	begin := len(g.text)
	g.palabra(0, apellidos, .4)
	if g.IntN(3) == 0 {
		g.text = append(g.text, ' ')
		g.text = append(g.text, pick(g, giros)...)
	}
	g.text = append(g.text[:min(len(g.text), begin+cutAt)], '|')
}

// maybe writes a field that only one in so many rows has.
func (g *generator) maybe(one int, write func()) {
	if g.IntN(one) == 0 {
		write()
	} else {
		g.text = append(g.text, '-')
	}
	g.text = append(g.text, '|')
}
