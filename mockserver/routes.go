package mockserver

import (
	"net/http"
	"net/url"
	"strings"
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

func noRoute(c *call) answer {
	path := c.r.URL.EscapedPath()
	near := nearest(path)
	exist := make([]string, len(routes))
	for i, to := range routes {
		exist[i] = to.method + " " + to.path
	}
	return refusal(http.StatusNotFound, codeNoRoute,
		"no existe la ruta %s; ¿quiso decir %s %s? Rutas del servicio: %s. Las rutas se escriben tal cual, sin // ni .. ni barra final",
		c.quoted(path), near.method, near.path, strings.Join(exist, ", "))
}

// longPath bounds the work for one path: what comes after it makes no route nearer.
const longPath = 200

// nearest returns the route whose path differs least from path, in letters per segment.
func nearest(path string) *route {
	path = strings.ToLower(path[:min(len(path), longPath)])
	got := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(got) == 0 || distance(got[0], "api") > 1 {
		got = append([]string{"api"}, got...) // a forgotten prefix would make every route look alike
	}
	best, least := &routes[0], -1
	for i := range routes {
		if d := pathDistance(got, strings.Split(routes[i].path[1:], "/")); least < 0 || d < least {
			best, least = &routes[i], d
		}
	}
	return best
}

func pathDistance(got, want []string) int {
	total := 0
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			total += len(want[i])
		case i >= len(want):
			total += len(got[i])
		case want[i] == "{ruc}":
			total += 3 // anything goes, but dearer than one typing error in the literal beside it
		default:
			total += distance(got[i], want[i])
		}
	}
	return total
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
