package mockserver

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/fiscope/fiscope/internal/nearest"
)

// route is the method and the path of an operation.
type route struct {
	op     Operation
	method string
	path   string
	params []string // query parameters
}

// routes are all routes, in the order of error texts.
var routes = [...]route{
	toBuscar:     {OpBuscar, http.MethodGet, "/api/contribuyentes/search", []string{"razonSocial", "limit"}},
	toConsultar:  {OpConsultar, http.MethodGet, "/api/contribuyentes/{ruc}", nil},
	toValidar:    {OpValidar, http.MethodPost, "/api/cpe/validar", nil},
	toTipoCambio: {OpTipoCambio, http.MethodGet, "/api/tipocambio", []string{"fecha"}},
}

const (
	toBuscar = iota
	toConsultar
	toValidar
	toTipoCambio
)

// words returns the beginning of every path of a route.
func (to *route) words() string {
	words, _, _ := strings.Cut(to.path, "{")
	return words
}

// routeOf returns the route of a path, whatever the method, and the RUC in the path; nil for none. An http.ServeMux would
// redirect `//` and `..` to a cleaner path instead.
func routeOf(u *url.URL) (to *route, ruc string) {
	given := u.Path
	if u.RawPath != "" { // an escaped slash ends no segment
		given, _ = url.PathUnescape(escapedSlash.Replace(u.EscapedPath())) // net/url has decoded it before
	}
	for _, i := range []int{toBuscar, toValidar, toTipoCambio} {
		if routes[i].path == given {
			return &routes[i], ""
		}
	}
	to = &routes[toConsultar]
	ruc, found := strings.CutPrefix(given, to.words())
	dots := u.RawPath == "" && (ruc == "." || ruc == "..")
	if !found || ruc == "" || dots || strings.Contains(ruc, "/") {
		return nil, ""
	}
	return to, strings.ReplaceAll(ruc, noSlash, "/")
}

// noSlash stands for an escaped slash.
const noSlash = "\x00"

var escapedSlash = strings.NewReplacer("%2F", noSlash, "%2f", noSlash)

// accepts reports whether a route accepts a method; HEAD works like GET.
func (to *route) accepts(method string) bool {
	return method == to.method || method == http.MethodHead && to.method == http.MethodGet
}

func wrongMethod(q *request) answer {
	to := q.to
	a := refusal(http.StatusMethodNotAllowed, codeMethod,
		"%s no admite el método %s; use %s %s", to.path, q.quoted(q.r.Method), to.method, to.path)
	if origin := q.r.Header.Get("Origin"); q.r.Method == http.MethodOptions && origin != "" {
		a = refusal(http.StatusMethodNotAllowed, codeMethod,
			"es la consulta previa (CORS) de un navegador, y este servidor no responde a páginas de otro origen: para permitir una, inicie fiscope-mock con -cors %s", q.quoted(origin))
	}
	if a.allow = to.method; to.accepts(http.MethodHead) {
		a.allow += ", HEAD"
	}
	return a
}

func noRoute(q *request) answer {
	names := make([]nearest.Route, len(routes))
	for i, to := range routes {
		names[i] = nearest.Route{Method: to.method, Path: to.path}
	}
	given, guess, shown := q.r.URL.EscapedPath(), "Las rutas del servicio", []string(nil)
	closest, near := nearest.Of(q.r.Method, given, names)
	missing := "el RUC"
	if q.r.URL.Query().Has("razonSocial") {
		missing, closest, near = "/search", toBuscar, true
	}
	for i, name := range names {
		if near && i == closest {
			guess = "¿Quiso decir " + name.String() + "? Las otras rutas"
			continue
		}
		shown = append(shown, name.String())
	}
	return refusal(http.StatusNotFound, codeNoRoute, "no existe la ruta %s%s. %s: %s", q.quoted(given), whyNot(q.r.URL.Path, missing), guess, strings.Join(shown, ", "))
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
