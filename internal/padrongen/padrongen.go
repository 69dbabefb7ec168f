// Package padrongen invents registries like the one that SUNAT publishes, for tests, benchmarks and trials.
package padrongen

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
)

// Counts says how many rows were written, and how many of each odd kind.
type Counts struct {
	Rows         int
	TooFewFields int // rows that end before their last column
	TooLong      int // rows with a column too many
	BadRUC       int // rows whose RUC is not 11 digits
	WithoutName  int
	Duplicates   int // rows of a RUC that an earlier row has
}

// header is the first line of the published file.
const header = "RUC|NOMBRE O RAZÓN SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICIÓN DE DOMICILIO|UBIGEO|TIPO DE VÍA|" +
	"NOMBRE DE VÍA|CÓDIGO DE ZONA|TIPO DE ZONA|NÚMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KILÓMETRO|"

// Generate writes the text of a registry with the given number of rows, the same for the same seed. They resemble the
// published file in about the same shares: lengths, frequent and rare words, states, conditions, and odd rows, about 1
// in 10 000; one of 20 000 has some of each kind. No real person is in it: the names of persons and most words of companies are made of syllables. The check
// digits are right.
func Generate(w io.Writer, rows int, seed uint64) (Counts, error) {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 0)), rows: rows}
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.Write(append(windows1252(header), "\r\n"...)); err != nil {
		return g.Counts, err
	}
	for g.Rows < rows {
		g.row()
		if g.Rows == rows { // the last line has no end
			g.text = g.text[:len(g.text)-len(g.end)]
		}
		if _, err := out.Write(g.text); err != nil {
			return g.Counts, err
		}
		g.text = g.text[:0]
	}
	return g.Counts, out.Flush()
}

// generator writes rows in the order of their RUC.
type generator struct {
	*rand.Rand
	Counts
	rows int
	odds int    // rows that odd wrote
	text []byte // of the row, in Windows-1252
	end  string // of its line
	body uint64 // the first ten digits of the last RUC
	kept uint64 // those of an earlier RUC, for a duplicate
}

// oneIn reports whether the next row is odd: one in so many rows, or about some of a smaller registry, never one in 100.
func (g *generator) oneIn(rows, some int) bool { return g.IntN(min(rows, max(200, g.rows/some))) == 0 }

// row writes a row, odd or not.
func (g *generator) row() {
	g.end = "\n"
	if g.IntN(50) == 0 {
		g.end = "\r\n"
	}
	begin := len(g.text)
	switch {
	case g.kept != 0 && g.oneIn(50_000, 4):
		g.Duplicates++
		g.fields(g.kept)
		g.kept = 0
	case g.oneIn(12_000, 20):
		g.odd(begin)
	default:
		body := g.nextBody()
		if g.kept == 0 {
			g.kept = body
		}
		g.fields(body)
	}
	g.Rows++
	g.text = append(g.text, g.end...)
}

// odd writes an odd row of any kind except a duplicate.
func (g *generator) odd(begin int) {
	body := g.nextBody()
	g.odds++
	switch g.odds % 10 {
	case 0, 1:
		g.TooFewFields++
		g.fields(body)
		last := bytes.LastIndexByte(g.text[:len(g.text)-1], '|') // after fourteen fields
		g.text = g.text[:begin+rucWidth+1+g.IntN(last-begin-rucWidth)]
	case 2:
		g.TooLong++
		g.fields(body)
		g.text = append(g.text, "DE MAS|"...)
	case 3:
		g.BadRUC++
		g.fields(body)
		g.text[begin+g.IntN(rucWidth)] = "-X. \xd1"[g.IntN(5)]
	case 4:
		g.BadRUC++
		g.fields(body)
		g.text = append(g.text[:begin], g.text[begin+1:]...) // ten digits
	default:
		g.WithoutName++
		g.ruc(body)
		g.text = append(g.text, pick(g, []string{"", "-", " ", "----", "-.-", " - "})...)
		g.text = append(g.text, '|')
		g.afterName(body)
	}
}

// nextBody returns the first ten digits of the next RUC. Three in five are natural persons; a few have a prefix that is
// obsolete or meaningless.
func (g *generator) nextBody() uint64 {
	share, from := float64(g.Rows)/float64(g.rows), 0.0
	for _, p := range prefijosGenerados {
		if share < p.until {
			part := (share - from) / (p.until - from)
			g.body = max(g.body+1, p.prefix*1e8+uint64(part*6e7))
			break
		}
		from = p.until
	}
	return g.body
}

// prefijosGenerados are the first two digits of RUCs, each with the share of rows up to its last one.
var prefijosGenerados = []struct {
	prefix uint64
	until  float64
}{{0, .0001}, {10, .62}, {15, .63}, {16, .631}, {17, .64}, {20, 1}}

const rucWidth = 11

func (g *generator) ruc(body uint64) {
	ruc := body*10 + checkDigit(body)
	for power := uint64(1e10); power > 0; power /= 10 {
		g.text = append(g.text, byte('0'+ruc/power%10))
	}
	g.text = append(g.text, '|')
}

// checkDigit returns the last digit of a RUC: fiscope.ValidarRUC has its rule.
func checkDigit(body uint64) uint64 {
	sum := uint64(0)
	for _, weight := range [...]uint64{2, 3, 4, 5, 6, 7, 2, 3, 4, 5} {
		sum += weight * (body % 10)
		body /= 10
	}
	return (11 - sum%11) % 10
}

func persona(body uint64) bool { return body < 2_000_000_000 }

func (g *generator) fields(body uint64) {
	g.ruc(body)
	blanks := g.IntN(2000) == 0
	if blanks {
		g.text = append(g.text, "  "...)
	}
	if persona(body) {
		g.persona()
	} else {
		g.empresa()
	}
	if blanks {
		g.text = append(g.text, " \t"...)
	}
	g.text = append(g.text, '|')
	g.afterName(body)
}

func (g *generator) afterName(body uint64) {
	g.text = append(g.text, g.share(estadosGenerados)...)
	g.text = append(g.text, '|')
	g.text = append(g.text, g.share(condicionesGeneradas)...)
	g.text = append(g.text, '|')
	if persona(body) && g.IntN(40) > 0 || g.IntN(5) == 0 {
		g.text = append(g.text, "-|-|-|-|-|-|-|-|-|-|-|"...)
		return
	}
	g.text = append(g.text, g.ubigeo()...)
	g.text = append(g.text, '|')
	g.domicilio()
}

// weighted is a value and its weight.
type weighted struct {
	value  string
	weight int
}

// The shares of states and conditions are those of a sample of 1000 rows; both are cut at 20 characters.
var (
	estadosGenerados = []weighted{
		{"BAJA DEFINITIVA", 5630}, {"ACTIVO", 4220}, {"BAJA DE OFICIO", 100}, {"SUSPENSION TEMPORAL", 40},
		{"BAJA PROVISIONAL", 1}, {"BAJA PROV. POR OFICI", 1}, {"BAJA MULT.INSCR. Y O", 1}, {"ANUL.PROVI.-ACTO ILI", 1},
		{"ANULACION - ERROR SU", 1}, {"NUM. INTERNO IDENTIF", 1}, {"OTROS OBLIGADOS", 1}, {"INHABILITADO-VENT.UN", 1},
		{"ANULACION - ACTO ILI", 1}, {"PENDIENTE DE INI. DE", 1},
	}
	condicionesGeneradas = []weighted{
		{"HABIDO", 9350}, {"NO HABIDO", 220}, {"NO HALLADO", 150}, {"NO HALLADO SE MUDO D", 120},
		{"NO HALLADO NRO.PUERT", 60}, {"NO HALLADO NO EXISTE", 40}, {"NO HALLADO DESTINATA", 20}, {"NO HALLADO CERRADO", 15},
		{"NO HALLADO RECHAZADO", 10}, {"NO HALLADO OTROS MOT", 4}, {"NO HALLADO FALLECIO", 1}, {"PENDIENTE", 1},
		{"POR VERIFICAR", 1}, {"NO APLICABLE", 1}, {"NO APLICABLE X TRAMI", 1}, {"NO EXISTE LA DIRECCI", 1},
		{"DOMICILIO CERRADO", 1}, {"NEGATIVA RECEPCION X", 1}, {"AUSENCIA DE PERSONA", 1}, {"DEVUELTO", 1}, {"-", 1},
	}
)

// share returns a random value, according to the weights.
func (g *generator) share(values []weighted) string {
	at := g.IntN(10_000)
	for _, v := range values {
		if at -= v.weight; at < 0 {
			return v.value
		}
	}
	return values[0].value
}

// pick returns a random item of a list, the first ones more often.
func pick[T any](g *generator, list []T) T {
	u := g.Float64()
	return list[int(u*u*float64(len(list)))]
}

func (g *generator) number(below int) {
	g.text = strconv.AppendInt(g.text, int64(1+g.IntN(below)), 10)
}
