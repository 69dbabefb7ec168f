package fiscope

import (
	"slices"
	"time"
)

// Feriado is a national holiday of Peru: a day without an exchange rate.
type Feriado struct {
	Fecha  Fecha
	Nombre string // in Spanish, such as "Viernes Santo"
	Norma  string // the law that declares it today, such as "Ley 31381"
}

// dl713 declares most holidays, in its article 6; later laws add others.
const dl713 = "Decreto Legislativo 713"

// nacionales are the holidays and the first year of each. In month 0, day counts from Easter Sunday. A holiday on a
// weekend is not moved.
var nacionales = []struct {
	month  time.Month
	day    int
	since  int
	nombre string
	norma  string
}{
	{0, -3, 0, "Jueves Santo", dl713},
	{0, -2, 0, "Viernes Santo", dl713},
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

// FeriadosNacionales returns the national holidays of a year in calendar order: 12 in 2021, 14 in 2022, 15 in 2023, 16
// since 2024; none outside the years 1 to 9999. Bridge days are declared by decree each year and are not included: see
// [NoLaborables].
func FeriadosNacionales(year int) []Feriado {
	domingo := pascua(year)
	if !domingo.Valid() {
		return nil
	}
	var feriados []Feriado
	for _, f := range nacionales {
		fecha := NewFecha(year, f.month, f.day)
		if f.month == 0 {
			fecha = domingo.SumarDias(f.day)
		}
		if year >= f.since {
			feriados = append(feriados, Feriado{fecha, f.nombre, f.norma})
		}
	}
	slices.SortFunc(feriados, func(a, b Feriado) int { return a.Fecha.Compare(b.Fecha) })
	return feriados
}

// Feriado returns the national holiday that falls on f, and whether there is one.
func (f Fecha) Feriado() (Feriado, bool) {
	for _, feriado := range FeriadosNacionales(f.Year()) {
		if feriado.Fecha == f {
			return feriado, true
		}
	}
	return Feriado{}, false
}

// pascua returns Easter Sunday of the Gregorian calendar, using the anonymous computus (Nature, 1876).
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

// NoLaborables are days that the government declares free by decree, a few weeks before, such as bridge days. Pass them
// to the methods that count business days, and to [WithNoLaborables]:
//
//	puentes := fiscope.NoLaborables{fiscope.NewFecha(2026, time.December, 24)}
//	fecha.SumarDiasHabiles(5, puentes)
type NoLaborables []Fecha

// DiaHabil reports whether f is a business day: a valid day that is not a Saturday, a Sunday, a national holiday or one
// of decretados. Only business days can have an exchange rate (docs/contract.md, 4.4).
func (f Fecha) DiaHabil(decretados ...NoLaborables) bool {
	if d := f.Weekday(); !f.Valid() || d == time.Saturday || d == time.Sunday {
		return false
	}
	if _, feriado := f.Feriado(); feriado {
		return false
	}
	return !slices.ContainsFunc(decretados, func(days NoLaborables) bool { return slices.Contains(days, f) })
}

// SiguienteDiaHabil returns the first business day after f. A tax term whose last day is not a business day ends on it
// (Código Tributario, Decreto Supremo 133-2013-EF, Norma XII).
func (f Fecha) SiguienteDiaHabil(decretados ...NoLaborables) Fecha {
	return f.SumarDiasHabiles(1, decretados...)
}

// AnteriorDiaHabil returns the last business day before f.
func (f Fecha) AnteriorDiaHabil(decretados ...NoLaborables) Fecha {
	return f.SumarDiasHabiles(-1, decretados...)
}

// SumarDiasHabiles returns the n-th business day after f; before f if n is negative, f itself if n is 0. f is not
// counted. Tax terms in days are counted this way (Norma XII; Código Civil, article 183); your accountant decides which
// applies. It returns the zero Fecha if f does not exist, and outside the years 1 to 9999.
func (f Fecha) SumarDiasHabiles(n int, decretados ...NoLaborables) Fecha {
	step := 1
	if n < 0 {
		step = -1
	}
	for f.Valid() && n != 0 {
		if f = f.SumarDias(step); f.DiaHabil(decretados...) {
			n -= step
		}
	}
	if !f.Valid() {
		return Fecha{}
	}
	return f
}
