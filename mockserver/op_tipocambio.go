package mockserver

import (
	"encoding/json"
	"net/http"
	"regexp"

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
