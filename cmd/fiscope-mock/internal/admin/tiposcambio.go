package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// tipoCambio is the server's present answer for one day.
type tipoCambio struct {
	Fecha  string      `json:"fecha"`
	Compra json.Number `json:"compra,omitempty"`
	Venta  json.Number `json:"venta,omitempty"`
	Why    string      `json:"why,omitempty"` // in Spanish, the reason for answering no rate
	Put    bool        `json:"put,omitempty"` // its rate was set or removed
}

// getTiposCambio returns a month's calendar; by default the month of the server's clock.
func (a *api) getTiposCambio(r *http.Request) (any, error) {
	values, err := a.parametersOf(r, "mes")
	if err != nil {
		return nil, err
	}
	mes := a.Mock.Now().In(fiscope.Lima)
	if text := values.Get("mes"); text != "" {
		if mes, err = time.Parse("2006-01", text); err != nil || mes.Year() < 1 {
			return nil, invalid("envíe un mes como 2026-11, o quítelo para el de hoy en Lima", "mes no es un mes como 2026-11")
		}
	}
	set := map[string]mockserver.TipoCambio{}
	for _, t := range a.Mock.Data().TiposCambio {
		set[t.Fecha] = t
	}
	list := []tipoCambio{}
	for day := fiscope.NewFecha(mes.Year(), mes.Month(), 1); day.Valid() && day.Month() == mes.Month(); day = day.SumarDias(1) {
		d := a.control.TipoCambio(day)
		if d.Put { // also before its hour
			d.Compra, d.Venta = set[d.Fecha].Compra, set[d.Fecha].Venta
		}
		list = append(list, tipoCambio{d.Fecha, d.Compra, d.Venta, d.Why, d.Put})
	}
	return list, nil
}

func (a *api) putTipoCambio(r *http.Request) (any, error) {
	const shape = `{"compra": 3.750, "venta": 3.760}`
	var to struct {
		Compra json.Number `json:"compra"`
		Venta  json.Number `json:"venta"`
	}
	if err := read(r, &to, shape); err != nil {
		return nil, err
	}
	if to.Compra == "" || to.Venta == "" {
		return nil, invalid("envíe "+shape, "no dice la compra y la venta")
	}
	return nil, a.Mock.PutTipoCambio(r.PathValue("fecha"), to.Compra.String(), to.Venta.String())
}

func (a *api) deleteTipoCambio(r *http.Request) (any, error) {
	return nil, a.Mock.DeleteTipoCambio(r.PathValue("fecha"))
}

func (a *api) restoreTipoCambio(r *http.Request) (any, error) {
	return nil, a.control.RestoreTipoCambio(r.PathValue("fecha"))
}
