package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// operation is one of the four (docs/contrato.md, 1).
type operation string

const (
	lookup     operation = "lookup"
	search     operation = "search"
	validation operation = "validation"
	rate       operation = "rate"
)

// operations are all of them.
var operations = []operation{lookup, search, validation, rate}

// keyKind is which API key a request carries.
type keyKind string

const (
	ownKey keyKind = ""
	noKey  keyKind = " without X-API-KEY"
	badKey keyKind = " with an X-API-KEY that is nobody's"
)

// request is what is sent, and how a text shows it.
type request struct {
	op          operation
	target      string // path and query, after the base URL
	body, shown string // of a validation: shown is without its clave
	clave       bool   // whether it carries one
	key         keyKind
}

func (r request) method() string {
	if r.op == validation {
		return http.MethodPost
	}
	return http.MethodGet
}

// String is the request in one line, without secrets.
func (r request) String() string {
	line := r.method() + " " + r.target + string(r.key)
	if r.op == validation {
		line += " " + r.shown
	}
	return line
}

func lookupOf(ruc string) request {
	return request{op: lookup, target: "/api/contribuyentes/" + url.PathEscape(ruc)}
}

// searchOf searches with the parameters as they are given, name and value in turn.
func searchOf(params ...string) request {
	return request{op: search, target: "/api/contribuyentes/search" + query(params)}
}

func rateOf(params ...string) request {
	return request{op: rate, target: "/api/tipocambio" + query(params)}
}

// query writes a query string, %20 for a blank: some servers do not read a plus sign as one.
func query(params []string) string {
	text := ""
	for i := 0; i+1 < len(params); i += 2 {
		separator := "&"
		if i == 0 {
			separator = "?"
		}
		text += separator + params[i] + "=" + escaped(params[i+1])
	}
	return text
}

func escaped(value string) string {
	const blank = "%20"
	text := ""
	for _, r := range value {
		if r == ' ' {
			text += blank
		} else {
			text += url.QueryEscape(string(r))
		}
	}
	return text
}

// fields are the seven of a receipt validation (docs/contrato.md, 2.3).
type fields struct {
	rucEmisor, tipo, serie string
	numero                 int64
	rucSolicitante         string
	usuario, clave         string
}

// cpeFields are their names.
var cpeFields = []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"}

func fieldsOf(c Comprobante, u UsuarioSOL) fields {
	return fields{c.RUCEmisor, c.Tipo, c.Serie, c.Numero, u.RUC, u.Usuario, u.Clave}
}

// validationOf validates with all fields but one; "" leaves out none.
func validationOf(f fields, without string) request {
	body := func(clave string) string {
		object := map[string]any{
			"rucEmisor": f.rucEmisor, "tipoComprobante": f.tipo, "serie": f.serie, "numero": f.numero,
			"rucSolicitante": f.rucSolicitante, "usuarioSol": f.usuario, "claveSol": clave,
		}
		delete(object, without)
		text, _ := json.Marshal(object) // of texts and a number: it cannot fail
		return string(text)
	}
	return request{
		op: validation, target: "/api/cpe/validar", body: body(f.clave), shown: body(hidden),
		clave: without != "claveSol",
	}
}
