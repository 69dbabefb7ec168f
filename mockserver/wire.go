package mockserver

import "encoding/json"

// The shapes on the wire, written from service.md section 2 and never shared with the SDK: a wrong name
// on one side must be able to fail a test.

type wireContribuyente struct {
	RUC                    string `json:"ruc"`
	RazonSocial            string `json:"razonSocial"`
	Estado                 string `json:"estado"`
	Condicion              string `json:"condicion"`
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"`
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`
	FechaInicioActividades string `json:"fechaInicioActividades"`
}

type wireResumen struct {
	RUC         string `json:"ruc"`
	RazonSocial string `json:"razonSocial"`
	Estado      string `json:"estado"`
	Condicion   string `json:"condicion"`
}

type wireResultado struct {
	Codigo   string `json:"codigo"`
	Mensaje  string `json:"mensaje"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

type wireTipoCambio struct {
	Compra json.Number `json:"compra"` // a Number keeps the zeros of 3.750
	Venta  json.Number `json:"venta"`
	Moneda string      `json:"moneda"`
	Fecha  string      `json:"fecha"`
	Origen string      `json:"origen"`
}

type wireError struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}
