package padrongen

import "fmt"

// The types of streets and zones, frequent ones first; the street's column is four wide.
var (
	viasGeneradas  = []string{"AV.", "CAL.", "JR.", "----", "PJ.", "CAR.", "PQ.", "-", "PRO.", "MAL."}
	zonasGeneradas = []string{"URB.", "----", "A.H.", "-.-", "ASC.", "P.J.", "RES.", "COO.", "GRU.", "CAS.", "Z.I."}
)

// cutAt is the length at which the registry cuts the names of streets and zones.
const cutAt = 25

// Codes of districts: of Lima, where every other company is, and of the capital of each department.
var (
	limaGenerada       = distritos("1501%02d", 43)
	capitalesGeneradas = distritos("%02d0101", 25)
)

// distritos returns the first codes of a series.
func distritos(format string, count int) (codes []string) {
	for i := range count {
		codes = append(codes, fmt.Sprintf(format, i+1))
	}
	return codes
}

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
		return pick(g, limaGenerada)
	}
	return pick(g, capitalesGeneradas)
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
