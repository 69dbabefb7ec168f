package mockserver

import (
	"fmt"
	"time"

	"github.com/fiscope/fiscope"
)

// TipoCambioDelDia is how a server answers for a day now.
type TipoCambioDelDia struct {
	TipoCambio        // Compra and Venta are "" where it has no rate
	Why        string // in Spanish, why it has none, as the 404 says it (docs/contrato.md, 4.4); "" where it has one
	Put        bool   // the day's rate was put over the default series, or taken out of it
}

// delDia returns how a day is answered for at an instant.
func (s *tiposCambio) delDia(fecha fiscope.Fecha, now time.Time, delay time.Duration) TipoCambioDelDia {
	r, put, why := s.of(fecha)
	if why = withoutRate(fecha, now, delay, why); why != "" {
		r = rate{}
	}
	return TipoCambioDelDia{TipoCambio{fecha.String(), r.compra, r.venta}, why, put}
}

// withoutRate says in Spanish why there is no rate for a date now, or "" when there is one; notStored is why none
// is stored.
func withoutRate(fecha fiscope.Fecha, now time.Time, delay time.Duration, notStored string) string {
	today := fiscope.FechaEnLima(now)
	if why := neverRate(fecha); why != "" {
		return why
	}
	published := fecha.Publicacion().Add(delay)
	switch {
	case fecha.Compare(today) > 0:
		return "es una fecha futura; hoy en Lima es " + today.String()
	case now.Before(published):
		return fmt.Sprintf("todavía no se publica; consulte desde el %s, o use el último día hábil anterior", enLima(published))
	}
	return notStored
}

// neverRate says why a date can never have a rate, or "".
func neverRate(fecha fiscope.Fecha) string {
	if fecha.DiaHabil() {
		return ""
	}
	const advice = "; use el último día hábil anterior"
	if feriado, ok := fecha.Feriado(); ok {
		return "es feriado nacional, " + feriado.Nombre + advice
	}
	if fecha.Weekday() == time.Saturday {
		return "es sábado" + advice
	}
	return "es domingo" + advice
}
