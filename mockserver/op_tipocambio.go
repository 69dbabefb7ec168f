package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/fiscope/fiscope"
)

type wireTipoCambio struct {
	Compra json.Number `json:"compra"` // a Number keeps the zeros of 3.750
	Venta  json.Number `json:"venta"`
	Moneda string      `json:"moneda"`
	Fecha  string      `json:"fecha"`
	Origen string      `json:"origen"`
}

var formOfFecha = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// tipoCambio is the exchange rate of docs/contrato.md, 4.4.
func tipoCambio(c *call, assume *Assumptions) answer {
	query, refused := c.query("fecha")
	if query == nil {
		return refused
	}
	fecha := fiscope.FechaEnLima(c.now)
	if query.Has("fecha") {
		var err error
		if fecha, err = fiscope.ParseFecha(query.Get("fecha")); err != nil {
			if assume.ImpossibleDateNotFound && formOfFecha.MatchString(query.Get("fecha")) {
				return refusal(http.StatusNotFound, codeNotFound,
					"no hay tipo de cambio del %s: ese día no existe (docs/contrato.md, 4.4)", query.Get("fecha"))
			}
			return refusal(http.StatusBadRequest, assume.CodeInvalidDate,
				"fecha %s no es válida: envíe un día que exista, como YYYY-MM-DD, u omítala para el de hoy (docs/contrato.md, 4.4)",
				c.quoted(query.Get("fecha")))
		}
	}
	day := c.data.tiposCambio.delDia(fecha, c.now, assume.PublicationDelay)
	if day.Why != "" {
		return refusal(http.StatusNotFound, codeNotFound,
			"no hay tipo de cambio del %s: %s (docs/contrato.md, 4.4)", fecha, day.Why)
	}
	return success(wireTipoCambio{Compra: day.Compra, Venta: day.Venta, Moneda: "USD", Fecha: day.Fecha, Origen: "SBS"})
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
