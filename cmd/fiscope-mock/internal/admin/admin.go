// Package admin is the mock server's remote control: what package mockserver offers to Go, over HTTP and
// under /_mock/, for tests in any language. GET /_mock/ lists what there is.
//
// Most of it takes an X-API-KEY header, and is then about that key only: a tenant's own quota, faults and
// journal. Keys are shown by their fingerprint, and claves never, but in GET /_mock/data, whose purpose is
// a fixture that a server can be started with.
//
// What changes something wants Content-Type: application/json, or a method that no form has, so that a
// web page that somebody has open cannot send it: the browser would have to ask first, and is not answered.
package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

// Prefix is the path under which everything of this package lies.
const Prefix = "/_mock/"

// Config is what the API controls.
type Config struct {
	Mock   *mockserver.Server
	Assume mockserver.Assumptions // the server's
	Token  string                 // asked for as a bearer token; "" for none
	CA     []byte                 // PEM, for ca.pem; nil for none
	Log    *slog.Logger           // told of each change
	Ending context.Context        // ends when the server begins to close: whoever waits gives up
}

// api answers what lies under Prefix.
type api struct {
	Config
	mux *http.ServeMux
}

// New returns the handler of everything under Prefix.
func New(c Config) http.Handler {
	a := &api{Config: c, mux: http.NewServeMux()}
	methods := map[string]map[string]endpoint{}
	for _, e := range endpoints {
		if methods[e.path] == nil {
			methods[e.path] = map[string]endpoint{}
		}
		methods[e.path][e.method] = e
	}
	for path, by := range methods {
		pattern := path
		if path == Prefix {
			pattern += "{$}"
		}
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.serve(by, w, r) })
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		(&problem{http.StatusNotFound, codeNoRoute, "no existe esa ruta de administración", "vea las que hay en GET /_mock/"}).write(w)
	})
	return a
}

// ServeHTTP implements [http.Handler].
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	a.mux.ServeHTTP(w, r)
}

// serve answers one request of a path: token, method, content type, then the endpoint.
func (a *api) serve(methods map[string]endpoint, w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http leaves the body out
	}
	e, known := methods[method]
	switch {
	case !e.open && !a.admitted(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		(&problem{http.StatusUnauthorized, codeToken, "falta el token de administración, o no es el de este servidor", "envíe Authorization: Bearer y el valor de -admin-token"}).write(w)
		return
	case !known:
		wrongMethod(methods, r.Method).write(w)
		return
	case (method == http.MethodPost || method == http.MethodPut) && !isJSON(r):
		(&problem{http.StatusUnsupportedMediaType, codeMediaType, "el Content-Type no es application/json", "envíe Content-Type: application/json, también sin cuerpo"}).write(w)
		return
	}
	answer, err := e.do(a, r)
	if err != nil {
		asProblem(err).write(w)
		return
	}
	if method != http.MethodGet {
		a.Log.Info("admin", "method", method, "path", r.URL.Path)
	}
	write(w, answer)
}

// admitted compares digests: the time it takes tells nothing of the token.
func (a *api) admitted(r *http.Request) bool {
	if a.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func isJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "application/json"
}
