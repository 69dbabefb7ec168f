package mockserver

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

type wireTipoCambio struct {
	Compra json.Number `json:"compra"` // json.Number keeps the zeros of 3.750
	Venta  json.Number `json:"venta"`
	Moneda string      `json:"moneda"`
	Fecha  string      `json:"fecha"`
	Origen string      `json:"origen"`
}

// tipoCambio is the exchange rate of docs/contract.md, 4.4.
func tipoCambio(q *request, data *dataset, assume *Assumptions, now time.Time) answer {
	query, refused := q.query()
	if query == nil {
		return refused
	}
	fecha := fiscope.FechaEnLima(now)
	if query.Has("fecha") {
		var err error
		if fecha, err = fiscope.ParseFecha(query.Get("fecha")); err != nil {
			return refusal(http.StatusBadRequest, assume.CodeInvalidDate,
				"fecha %s no es válida: envíe un día que exista, en la forma AAAA-MM-DD, como 2026-11-20, u omítala para el de hoy (docs/contract.md, 4.4)",
				q.quoted(query.Get("fecha")))
		}
	}
	day := data.tiposCambio.delDia(fecha, now)
	if day.Why != "" {
		return refusal(http.StatusNotFound, codeNotFound,
			"no hay tipo de cambio del %s: %s (docs/contract.md, 4.4)", fecha, day.Why)
	}
	return success(wireTipoCambio{Compra: day.Compra, Venta: day.Venta, Moneda: "USD", Fecha: day.Fecha, Origen: "SBS"})
}
