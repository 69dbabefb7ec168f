package mockserver

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/fiscope/fiscope/internal/nearest"
)

// route is how an operation is reached and answered.
type route struct {
	op      Operation
	method  string
	path    string
	headers bool // whether the contract documents the rate-limit headers for it
	answer  func(*call, *Assumptions) answer
}

// routes are all of them, in the order in which an error text shows them.
var routes = [...]route{
	{OpBuscar, http.MethodGet, "/api/contribuyentes/search", false, buscar},
	{OpConsultar, http.MethodGet, "/api/contribuyentes/{ruc}", true, consultar},
	{OpValidar, http.MethodPost, "/api/cpe/validar", false, validar},
	{OpTipoCambio, http.MethodGet, "/api/tipocambio", false, tipoCambio},
}

// words are what every path of a route begins with.
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

// routeOf returns the route of a path, whatever the method, with the RUC that the path carries; nil for
// none. An http.ServeMux would redirect `//` and `..` to a cleaner path instead.
func routeOf(u *url.URL) (to *route, ruc string) {
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

func wrongMethod(to *route, c *call) answer {
	a := refusal(http.StatusMethodNotAllowed, codeMethod,
		"%s no admite el método %s; use %s %s", to.path, c.quoted(c.r.Method), to.method, to.path)
	a.allow = to.method
	return a
}

// routeNames are the routes as an error text shows them.
func routeNames() []nearest.Route {
	names := make([]nearest.Route, len(routes))
	for i, to := range routes {
		names[i] = nearest.Route{Method: to.method, Path: to.path}
	}
	return names
}

func noRoute(c *call) answer {
	path, names := c.r.URL.EscapedPath(), routeNames()
	near := nearest.Of(c.r.Method, path, names)
	var others []string
	for i, name := range names {
		if i != near {
			others = append(others, name.String())
		}
	}
	return refusal(http.StatusNotFound, codeNoRoute,
		"¿quiso decir %s? No existe la ruta %s. Las otras rutas del servicio: %s. Se escriben tal cual, sin // ni .. ni barra final",
		names[near], c.quoted(path), strings.Join(others, ", "))
}
