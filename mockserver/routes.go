package mockserver

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/fiscope/fiscope/internal/nearest"
)

// route is the path and the handler of an operation.
type route struct {
	op      Operation
	method  string
	path    string
	params  []string // query parameters
	headers bool     // whether the contract documents the rate-limit headers for it
	answer  func(*call, *Assumptions) answer
}

// routes are all routes, in the order of error texts.
var routes = [...]route{
	{OpBuscar, http.MethodGet, "/api/contribuyentes/search", []string{"razonSocial", "limit"}, false, buscar},
	{OpConsultar, http.MethodGet, "/api/contribuyentes/{ruc}", nil, true, consultar},
	{OpValidar, http.MethodPost, "/api/cpe/validar", nil, false, validar},
	{OpTipoCambio, http.MethodGet, "/api/tipocambio", []string{"fecha"}, false, tipoCambio},
}

// hasLimits reports whether the operation's answers have the rate-limit headers.
func (to *route) hasLimits(assume *Assumptions) bool { return to.headers || assume.HeadersEverywhere }

// words returns the beginning of every path of a route.
func (to *route) words() string {
	words, _, _ := strings.Cut(to.path, "{")
	return words
}

func routeTo(op Operation) *route {
	for i := range routes {
		if routes[i].op == op {
			return &routes[i]
		}
	}
	return nil
}

// routeOf returns the route of a path, whatever the method, and the RUC in the path; nil for none. An http.ServeMux would
// redirect `//` and `..` to a cleaner path instead.
func routeOf(u *url.URL) (to *route, ruc string) {
	var segments [4]string // "", "api" and at most two more
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
		return routeTo(OpTipoCambio), ""
	case n == 4 && resource == "cpe" && name == "validar":
		return routeTo(OpValidar), ""
	case n == 4 && resource == "contribuyentes" && name == "search":
		return routeTo(OpBuscar), ""
	case n == 4 && resource == "contribuyentes" && name != "":
		return routeTo(OpConsultar), name
	}
	return nil, ""
}

// accepts reports whether a route accepts a method; HEAD works like GET.
func (to *route) accepts(method string) bool {
	return method == to.method || method == http.MethodHead && to.method == http.MethodGet
}

func wrongMethod(to *route, c *call) answer {
	a := refusal(http.StatusMethodNotAllowed, codeMethod,
		"%s no admite el método %s; use %s %s", to.path, c.quoted(c.r.Method), to.method, to.path)
	if origin := c.r.Header.Get("Origin"); c.r.Method == http.MethodOptions && origin != "" {
		a = refusal(http.StatusMethodNotAllowed, codeMethod,
			"es la consulta previa (CORS) de un navegador, y este servidor no responde a páginas de otro origen: para permitir una, inicie fiscope-mock con -cors %s", c.quoted(origin))
	}
	if a.allow = to.method; to.accepts(http.MethodHead) {
		a.allow += ", HEAD"
	}
	return a
}

// routeNames returns the routes for error texts.
func routeNames() []nearest.Route {
	names := make([]nearest.Route, len(routes))
	for i, to := range routes {
		names[i] = nearest.Route{Method: to.method, Path: to.path}
	}
	return names
}

func noRoute(c *call) answer {
	path, names := c.r.URL.EscapedPath(), routeNames()
	guess, shown := "Las rutas del servicio", make([]string, 0, len(names))
	best, near := nearest.Of(c.r.Method, path, names)
	missing := "el RUC"
	if c.r.URL.Query().Has("razonSocial") {
		missing, best, near = "/search", 0, true // the first route
	}
	for i, name := range names {
		if near && i == best {
			guess = "¿Quiso decir " + name.String() + "? Las otras rutas"
			continue
		}
		shown = append(shown, name.String())
	}
	return refusal(http.StatusNotFound, codeNoRoute, "no existe la ruta %s%s. %s: %s", c.quoted(path), whyNot(c.r.URL.Path, missing), guess, strings.Join(shown, ", "))
}

// whyNot returns the one reason why a path is not a route, "" for none or several. missing may be its last segment.
func whyNot(given, missing string) string {
	begin := max(0, strings.Index(given, "/api/"))
	for _, mend := range []struct{ why, path string }{
		{"sobra la barra final", strings.TrimRight(given, "/")},
		{"tiene // o puntos (. o ..), que no se admiten", path.Clean(given)},
		{"lleva mayúsculas, y va en minúsculas", strings.ToLower(given)},
		{"le falta /api al comienzo", "/api" + given},
		{"le sobra lo que está antes de /api", given[begin:]},
		{"le falta " + missing + " al final", path.Join(given, strings.TrimPrefix(missing, "el "))},
	} {
		if to, _ := routeOf(&url.URL{Path: mend.path}); to != nil {
			return ": " + mend.why
		}
	}
	return ""
}

// Operation names one of the four operations of docs/contract.md, 4.
type Operation string

// The operations.
const (
	OpConsultar  Operation = "consultar"  // lookup (4.1)
	OpBuscar     Operation = "buscar"     // search (4.2)
	OpValidar    Operation = "validar"    // receipt validation (4.3)
	OpTipoCambio Operation = "tipocambio" // exchange rate (4.4)
)

// Operations returns the four operations.
func Operations() []Operation { return []Operation{OpConsultar, OpBuscar, OpValidar, OpTipoCambio} }
