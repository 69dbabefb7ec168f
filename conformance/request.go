package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// operation is one of the four operations (docs/contract.md, 1).
type operation string

const (
	lookup     operation = "lookup"
	search     operation = "search"
	validation operation = "validation"
	rate       operation = "rate"
)

// keyKind says which API key a request carries.
type keyKind string

const (
	ownKey keyKind = ""
	noKey  keyKind = " without X-API-KEY"
	badKey keyKind = " with an unknown X-API-KEY"
)

// request is a request, and how texts show it.
type request struct {
	op          operation
	target      string // path and query, after the base URL
	asked       string // the RUC of a lookup, or the date of a rate
	body, shown string // of a validation: shown is without its clave
	clave       bool   // whether it carries a clave
	key         keyKind
}

func (r request) method() string {
	if r.op == validation {
		return http.MethodPost
	}
	return http.MethodGet
}

// String returns the request in one line, without secrets.
func (r request) String() string {
	return strings.TrimSpace(r.method() + " " + r.target + string(r.key) + " " + r.shown)
}

func lookupOf(ruc string) request {
	return request{op: lookup, asked: ruc, target: "/api/contribuyentes/" + url.PathEscape(ruc)}
}

// searchOf searches for a text; a limit of "" is left out.
func searchOf(text, limit string) request {
	params := url.Values{"razonSocial": {text}}
	if limit != "" {
		params.Set("limit", limit)
	}
	return request{op: search, target: "/api/contribuyentes/search?" + query(params)}
}

func rateOf(fecha string) request {
	return request{op: rate, asked: fecha, target: "/api/tipocambio?" + query(url.Values{"fecha": {fecha}})}
}

// query encodes a blank as %20: some servers do not decode a plus sign.
func query(params url.Values) string { return strings.ReplaceAll(params.Encode(), "+", "%20") }

// cpeFields are the seven fields of a receipt validation (docs/contract.md, 2.3).
var cpeFields = []string{"rucEmisor", "tipoComprobante", "serie", "numero", "rucSolicitante", "usuarioSol", "claveSol"}

// validationOf validates with all fields except one; "" leaves out none.
func validationOf(c Comprobante, u UsuarioSOL, without string) request {
	object := map[string]any{
		"rucEmisor": c.RUCEmisor, "tipoComprobante": c.Tipo, "serie": c.Serie, "numero": c.Numero,
		"rucSolicitante": u.RUC, "usuarioSol": u.Usuario, "claveSol": u.Clave,
	}
	delete(object, without)
	body, _ := json.Marshal(object) // texts and a number: it cannot fail
	if without != "claveSol" {
		object["claveSol"] = hidden
	}
	shown, _ := json.Marshal(object)
	return request{op: validation, target: "/api/cpe/validar", body: string(body), shown: string(shown), clave: without != "claveSol"}
}
