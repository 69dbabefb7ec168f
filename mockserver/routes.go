package mockserver

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Operation names one of the four endpoints of service.md section 4, in faults and in the journal.
type Operation string

// The operations.
const (
	OpConsultar  Operation = "consultar"  // lookup, 4.1
	OpBuscar     Operation = "buscar"     // search, 4.2
	OpValidar    Operation = "validar"    // receipt validation, 4.3
	OpTipoCambio Operation = "tipocambio" // exchange rate, 4.4
)

// Operations returns the four operations.
func Operations() []Operation { return []Operation{OpConsultar, OpBuscar, OpValidar, OpTipoCambio} }

// operation is how an endpoint is reached and answered.
type operation struct {
	name    Operation
	method  string
	path    string
	headers bool // whether the contract documents the rate-limit headers for it
	answer  func(*Server, *call) answer
}

var (
	search       = &operation{OpBuscar, http.MethodGet, "/api/contribuyentes/search", false, (*Server).buscar}
	lookup       = &operation{OpConsultar, http.MethodGet, "/api/contribuyentes/{ruc}", true, (*Server).consultar}
	validation   = &operation{OpValidar, http.MethodPost, "/api/cpe/validar", false, (*Server).validar}
	exchangeRate = &operation{OpTipoCambio, http.MethodGet, "/api/tipocambio", false, (*Server).tipoCambio}
)

func operations() []*operation { return []*operation{search, lookup, validation, exchangeRate} }

// route returns the operation of a path, whatever the method, with the RUC that the path carries; nil
// for none. An http.ServeMux would redirect `//` and `..` to a cleaner path instead.
func route(u *url.URL) (op *operation, ruc string) {
	var segments [4]string // "", "api" and two more at most
	escaped := u.RawPath != ""
	rest, more, n := u.Path, true, 0
	if escaped {
		rest = u.EscapedPath()
	}
	for ; more; n++ {
		if n == len(segments) {
			return nil, ""
		}
		segments[n], rest, more = strings.Cut(rest, "/")
		if segments[n] == "." || segments[n] == ".." {
			return nil, ""
		}
		if escaped {
			segments[n], _ = url.PathUnescape(segments[n]) // net/url has decoded it before
		}
	}
	if segments[0] != "" || segments[1] != "api" {
		return nil, ""
	}
	switch resource, name := segments[2], segments[3]; {
	case n == 3 && resource == "tipocambio":
		return exchangeRate, ""
	case n == 4 && resource == "cpe" && name == "validar":
		return validation, ""
	case n == 4 && resource == "contribuyentes" && name == "search":
		return search, ""
	case n == 4 && resource == "contribuyentes" && name != "":
		return lookup, name
	}
	return nil, ""
}

func operationNamed(name Operation) *operation {
	for _, op := range operations() {
		if op.name == name {
			return op
		}
	}
	return nil
}

func wrongMethod(op *operation, r *http.Request) answer {
	a := refusal(http.StatusMethodNotAllowed, codeMethod,
		"%s no admite el método %s; use %s %s", op.path, quoted(r.Method), op.method, op.path)
	a.allow = op.method
	return a
}

func noRoute(r *http.Request) answer {
	path := r.URL.EscapedPath()
	near := nearest(path)
	exist := make([]string, len(operations()))
	for i, op := range operations() {
		exist[i] = op.method + " " + op.path
	}
	return refusal(http.StatusNotFound, codeNoRoute,
		"no existe la ruta %s; ¿quiso decir %s %s? Rutas del servicio: %s. Las rutas se escriben tal cual, sin // ni .. ni barra final",
		quoted(path), near.method, near.path, strings.Join(exist, ", "))
}

// quoted shows a short piece of a request's line in an error text.
func quoted(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return "«" + strings.ToValidUTF8(s, "�") + "»"
}
