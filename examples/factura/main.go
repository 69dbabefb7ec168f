// Factura is an HTTP handler that completes an invoice in dollars: the customer by RUC, SUNAT's exchange rate for its date,
// and exact totals.
//
//	go run ./examples/factura
//	curl 'http://127.0.0.1:8085/facturas?ruc=20100070970&fecha=2026-11-20&valor=1250.50'
//
// It calls a mock in this process, or the service of FISCOPE_BASE_URL and FISCOPE_API_KEY.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func main() {
	log.SetFlags(0)
	client, err := conectar()
	if err != nil {
		log.Fatal("factura: ", err)
	}
	http.Handle("GET /facturas", facturas{client})
	log.Print("Pruebe: curl 'http://127.0.0.1:8085/facturas?ruc=20100070970&fecha=2026-11-20&valor=1250.50'")
	servidor := http.Server{Addr: "127.0.0.1:8085", ReadHeaderTimeout: 5 * time.Second}
	log.Fatal("factura: ", servidor.ListenAndServe())
}

// conectar returns one client for the whole program. A repeated customer is looked up once in 12 hours; during an outage its
// answer is used for two more days.
func conectar() (*fiscope.Client, error) {
	opciones := []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 48 * time.Hour}), fiscope.WithStrictRUC()}
	if os.Getenv("FISCOPE_BASE_URL") != "" {
		return fiscope.NewClientFromEnv(opciones...)
	}
	mock, err := mockserver.Start()
	if err != nil {
		return nil, err
	}
	return mock.Client(opciones...), nil
}

type facturas struct{ client *fiscope.Client }

type factura struct {
	Cliente      *fiscope.Contribuyente     `json:"cliente"`
	TipoCambio   *fiscope.TipoCambioVigente `json:"tipoCambio"`
	Dolares      map[string]string          `json:"dolares"`
	Soles        map[string]string          `json:"soles"`
	Advertencias []string                   `json:"advertencias"`
}

// ServeHTTP answers an error with the SDK's status and text for it; the error itself goes to the log.
func (f facturas) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 40*time.Second) // enough for three attempts of a lookup, and the rate
	defer cancel()
	respuesta, err := f.completar(ctx, r.FormValue("ruc"), r.FormValue("fecha"), r.FormValue("valor"))
	if err != nil {
		log.Print("factura: ", err)
		fiscope.WriteError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(respuesta) // a client that left is not our failure
}

func (f facturas) completar(ctx context.Context, ruc, dia, valor string) (*factura, error) {
	fecha, err := fiscope.ParseFecha(dia)
	if err != nil {
		return nil, err
	}
	neto, err := decimal.NewFromString(valor)
	if err != nil || len(valor) > 15 || strings.ContainsAny(valor, "eE") || !neto.IsPositive() { // 1e99 takes long to multiply
		return nil, fmt.Errorf("%w: valor", fiscope.ErrInvalidRequest)
	}
	var resp fiscope.Response
	cliente, err := f.client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
	if err != nil {
		return nil, err
	}
	// Not TipoCambio.Consultar: it returns the closing rate of that date, which the next day's invoices use.
	tc, err := f.client.TipoCambio.SUNAT(ctx, fecha)
	if err != nil {
		return nil, err
	}
	avisos := []string{}
	if !cliente.ActivoYHabido() {
		avisos = append(avisos, fmt.Sprintf("el cliente está %s, %s", cliente.Estado, cliente.Condicion))
	}
	if resp.Source == fiscope.SourceStale {
		avisos = append(avisos, "el servicio no responde: los datos del cliente son de hace "+time.Since(resp.AsOf).Round(time.Minute).String())
	}
	neto = neto.Round(2)
	igv := neto.Mul(tasaIGV).Round(2)
	venta := tc.TipoCambio.Venta
	return &factura{cliente, tc, sumar(neto, igv), sumar(neto.Mul(venta).Round(2), igv.Mul(venta).Round(2)), avisos}, nil
}

// tasaIGV is the general rate, 18 %. You and your accountant decide which rate applies.
var tasaIGV = decimal.RequireFromString("0.18")

// sumar adds amounts already rounded to the céntimo, so that the printed total is right. It uses no float.
func sumar(valor, igv decimal.Decimal) map[string]string {
	return map[string]string{"valor": valor.StringFixed(2), "igv": igv.StringFixed(2), "total": valor.Add(igv).StringFixed(2)}
}
