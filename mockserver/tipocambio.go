package mockserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

// tipoCambio is the exchange rate of service.md 4.4.
func (s *Server) tipoCambio(c *call) answer {
	query, refused := parseQuery(c.r, "fecha")
	if query == nil {
		return refused
	}
	fecha := hoy(c.now)
	if query.Has("fecha") {
		var err error
		if fecha, err = fiscope.ParseFecha(query.Get("fecha")); err != nil {
			return refusal(http.StatusBadRequest, s.assume.CodeInvalidDate,
				"fecha %s no es válida: envíe un día que exista, como YYYY-MM-DD, u omítala para el de hoy (contrato, 4.4)",
				quoted(query.Get("fecha")))
		}
	}
	r, ok := c.data.rates.of(fecha)
	if why := s.withoutRate(fecha, c.now, ok); why != "" {
		return refusal(http.StatusNotFound, codeNotFound,
			"no hay tipo de cambio del %s: %s (contrato, 4.4)", fecha, why)
	}
	return success(wireTipoCambio{Compra: r.compra, Venta: r.venta, Moneda: "USD", Fecha: fecha.String(), Origen: "SBS"})
}

// withoutRate says in Spanish why there is no rate for a date now, or "" when there is one.
func (s *Server) withoutRate(fecha fiscope.Fecha, now time.Time, stored bool) string {
	today := hoy(now)
	if why := neverRate(fecha); why != "" {
		return why
	}
	published := fecha.Publicacion().Add(s.assume.PublicationDelay)
	switch {
	case fecha.Compare(today) > 0:
		return "es una fecha futura; hoy en Lima es " + today.String()
	case now.Before(published):
		return fmt.Sprintf("todavía no se publica; consulte desde el %s, o use el último día hábil anterior", enLima(published))
	case !stored:
		return "este servidor de pruebas no tiene ese día; use otro día hábil"
	}
	return ""
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
