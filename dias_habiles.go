package fiscope

import (
	"slices"
	"time"
)

// NoLaborables are days that the government declares free by a decree, a few weeks before, as it does with
// the days that bridge a holiday and a weekend. No calendar can foresee them. Those of one year or of several
// may be given to whatever counts business days, and to [WithNoLaborables]:
//
//	puentes := fiscope.NoLaborables{fiscope.NewFecha(2026, time.December, 24)}
//	fecha.SumarDiasHabiles(5, puentes)
type NoLaborables []Fecha

// DiaHabil reports whether f is a business day: a day of the calendar that is neither a Saturday, nor a
// Sunday, nor a national holiday ([Fecha.Feriado]), nor one of those given. These are the days that can have
// an exchange rate (docs/contrato.md, 4.4).
func (f Fecha) DiaHabil(decretados ...NoLaborables) bool {
	if d := f.Weekday(); !f.Valid() || d == time.Saturday || d == time.Sunday {
		return false
	}
	if _, feriado := f.Feriado(); feriado {
		return false
	}
	return !slices.ContainsFunc(decretados, func(days NoLaborables) bool { return slices.Contains(days, f) })
}

// SiguienteDiaHabil returns the first business day after f. A term of tax law whose last day f is no business
// day ends there (Código Tributario, Decreto Supremo 133-2013-EF, Norma XII).
func (f Fecha) SiguienteDiaHabil(decretados ...NoLaborables) Fecha {
	return f.SumarDiasHabiles(1, decretados...)
}

// AnteriorDiaHabil returns the last business day before f.
func (f Fecha) AnteriorDiaHabil(decretados ...NoLaborables) Fecha {
	return f.SumarDiasHabiles(-1, decretados...)
}

// SumarDiasHabiles returns the n-th business day after f, or before it where n is negative. f itself is not
// counted, whether it is a business day or not; with 0 it is returned as it is. Terms of tax law that are in
// days are counted so: they are business days (Norma XII), and the first day is left out (Código Civil,
// article 183). Which term applies is for you and your accountant to decide.
//
// It returns the zero Fecha for a day that does not exist, and beyond the years 1 to 9999.
func (f Fecha) SumarDiasHabiles(n int, decretados ...NoLaborables) Fecha {
	step := 1
	if n < 0 {
		step = -1
	}
	for f.Valid() && n != 0 {
		if f = f.AddDays(step); f.DiaHabil(decretados...) {
			n -= step
		}
	}
	if !f.Valid() {
		return Fecha{}
	}
	return f
}
