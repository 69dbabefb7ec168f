package fiscope

import (
	"fmt"
	"slices"
	"time"
)

// Feriado is a national holiday of Peru: a day without an exchange rate.
type Feriado struct {
	Fecha  Fecha
	Nombre string // in Spanish, as in "Viernes Santo"
	Norma  string // the law that declares it, as in "Ley 31381"; "" before there was that law
}

// dl713 consolidated the holidays in its article 6; the later laws add to it. Those that it names were kept
// before, by laws that are not listed here.
const dl713 = "Decreto Legislativo 713"

// publicacionDL713 is the day on which the official gazette published it.
var publicacionDL713 = NewFecha(1991, time.November, 8)

// newFeriado returns the holiday that a law declares on f.
func newFeriado(f Fecha, nombre, norma string) Feriado {
	if norma == dl713 && f.Compare(publicacionDL713) < 0 {
		norma = ""
	}
	return Feriado{f, nombre, norma}
}

// fijos are the holidays that fall on the same day every year, with the first year in which each was
// kept. They are not moved when they fall on a weekend. Source: Decreto Legislativo 713, article 6,
// and the laws named in each row.
var fijos = []struct {
	month  time.Month
	day    int
	since  int
	nombre string
	norma  string
}{
	{time.January, 1, 0, "Año Nuevo", dl713},
	{time.May, 1, 0, "Día del Trabajo", dl713},
	{time.June, 7, 2024, "Batalla de Arica y Día de la Bandera", "Ley 31788"},
	{time.June, 29, 0, "San Pedro y San Pablo", dl713},
	{time.July, 23, 2023, "Día de la Fuerza Aérea del Perú", "Ley 31822"},
	{time.July, 28, 0, "Fiestas Patrias", dl713},
	{time.July, 29, 0, "Fiestas Patrias", dl713},
	{time.August, 6, 2022, "Batalla de Junín", "Ley 31530"},
	{time.August, 30, 0, "Santa Rosa de Lima", dl713},
	{time.October, 8, 0, "Combate de Angamos", dl713},
	{time.November, 1, 0, "Todos los Santos", dl713},
	{time.December, 8, 0, "Inmaculada Concepción", dl713},
	{time.December, 9, 2022, "Batalla de Ayacucho", "Ley 31381"},
	{time.December, 25, 0, "Navidad", dl713},
}

// FeriadosNacionales returns the national holidays of a year in the order of the calendar: 12 in 2021,
// 14 in 2022, 15 in 2023 and 16 since 2024. There are none outside the years 1 to 9999, which have no
// [Fecha]. Bridge days, which a decree declares a few weeks before, are not holidays of this list and cannot
// be foreseen: see [NoLaborables].
func FeriadosNacionales(year int) []Feriado {
	if !NewFecha(year, time.January, 1).Valid() {
		return nil
	}
	domingo := pascua(year)
	feriados := []Feriado{
		newFeriado(domingo.AddDays(-3), "Jueves Santo", dl713),
		newFeriado(domingo.AddDays(-2), "Viernes Santo", dl713),
	}
	for _, f := range fijos {
		if year >= f.since {
			feriados = append(feriados, newFeriado(NewFecha(year, f.month, f.day), f.nombre, f.norma))
		}
	}
	slices.SortFunc(feriados, func(a, b Feriado) int { return a.Fecha.Compare(b.Fecha) })
	return feriados
}

// Feriado returns the national holiday that falls on f, and whether there is one.
func (f Fecha) Feriado() (Feriado, bool) {
	if !f.Valid() {
		return Feriado{}, false
	}
	for _, fijo := range fijos {
		if fijo.month == f.Month() && fijo.day == f.Day() && f.Year() >= fijo.since {
			return newFeriado(f, fijo.nombre, fijo.norma), true
		}
	}
	switch domingo := pascua(f.Year()); f {
	case domingo.AddDays(-3):
		return newFeriado(f, "Jueves Santo", dl713), true
	case domingo.AddDays(-2):
		return newFeriado(f, "Viernes Santo", dl713), true
	}
	return Feriado{}, false
}

// Publicacion returns the instant after which the rate of f is normally published: 17:00 of that day
// in Lima (docs/contrato.md, 4.4).
func (f Fecha) Publicacion() time.Time { return f.En(Lima).Add(17 * time.Hour) }

// String returns the date and the name.
func (f Feriado) String() string { return fmt.Sprintf("%s %s", f.Fecha, f.Nombre) }

// pascua returns Easter Sunday of the Gregorian calendar by the anonymous computus (Nature, 1876).
func pascua(year int) Fecha {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 19*l) / 433
	month := (h + l - 7*m + 90) / 25
	day := (h + l - 7*m + 33*month + 19) % 32
	return NewFecha(year, time.Month(month), day)
}
