package mockserver

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// operation is one of the four endpoints of service.md section 4.
type operation struct {
	method  string
	path    string // a ServeMux pattern, without the method: see routes
	headers bool   // whether the contract documents the rate-limit headers for it
	answer  func(*Server, *call) answer
}

var operations = []*operation{
	{http.MethodGet, "/api/contribuyentes/search", false, (*Server).buscar},
	{http.MethodGet, "/api/contribuyentes/{ruc}", true, (*Server).consultar},
	{http.MethodPost, "/api/cpe/validar", false, (*Server).validar},
	{http.MethodGet, "/api/tipocambio", false, (*Server).tipoCambio},
}

// routes registers the paths without a method, which serve checks: with one, the mux would serve HEAD
// for GET, and its catch-all would turn a wrong method into a 404.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, op := range operations {
		mux.HandleFunc(op.path, func(w http.ResponseWriter, r *http.Request) { s.serve(op, w, r) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { noRoute(r).write(w) })
	return mux
}

// routable reports whether the mux would route the path as it stands. Any other (`//`, `.`, `..`, `*`)
// it would redirect to a cleaner one.
func routable(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		return false
	}
	segments := strings.Split(path[1:], "/")
	for i, segment := range segments {
		if segment == "." || segment == ".." || (segment == "" && i < len(segments)-1) {
			return false
		}
	}
	return true
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
	exist := make([]string, len(operations))
	for i, op := range operations {
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
