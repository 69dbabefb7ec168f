// Package admin is the HTTP API under /_mock/ that controls the mock server, for tests in any language. GET /_mock/ lists
// its endpoints.
//
// With an X-API-KEY header most of them concern only that key: its quota, faults and journal. Keys are shown as
// fingerprints and claves never, except in GET /_mock/data, which is a fixture for starting a server.
//
// Web pages of other origins cannot change anything: their requests are refused, and a body needs Content-Type:
// application/json, for which a browser sends a preflight request that is not answered.
package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fiscope/fiscope/mockserver"
)

// Prefix is the path of everything in this package.
const Prefix = "/_mock/"

// Config configures the API.
type Config struct {
	Mock    *mockserver.Server
	CA      []byte          // PEM, for ca.pem; nil for none
	OpenAPI []byte          // YAML, for openapi.yaml: this API's document
	Page    http.Handler    // answers GET /_mock/ for browsers, and /_mock/page/; nil for none
	Version string          // the program's
	Log     *slog.Logger    // records each change
	Ending  context.Context // ends when the server begins to close, which ends all waits
	Access  Access
}

// api serves everything under Prefix.
type api struct {
	Config
	control  mockserver.Control // of Mock
	mux      *http.ServeMux
	instance string     // differs in each process
	changing sync.Mutex // locked to change the assumptions, whose Quota is a key's limit
}

// New returns the handler of everything under Prefix.
func New(c Config) http.Handler {
	a := &api{Config: c, control: c.Mock.Control(), mux: http.NewServeMux(), instance: rand.Text()}
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
	if a.Page != nil {
		a.mux.Handle(pagePrefix, a.Page)
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, noRoute(r)) })
	return a
}

// ServeHTTP implements [http.Handler].
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.URL.Path == Prefix {
		w.Header().Set("Vary", "Accept")
	}
	if p := a.Access.refuses(r, isOpen(r.URL.Path) || a.isOfPage(r)); p != nil {
		a.refuse(w, r, p)
		return
	}
	if r.URL.Path+"/" == Prefix && a.isOfPage(r) { // as people type it
		w.Header().Set("Location", Prefix)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	if !utf8.ValidString(r.URL.Path) { // a name in it could be stored, but not exported
		a.refuse(w, r, invalid("escriba los nombres en UTF-8, y escapados como en toda URL", "la dirección no es UTF-8"))
		return
	}
	// The mux would redirect other spellings of a path, with a text in English.
	given := r.URL.EscapedPath() // as in the mux: %2F is part of a name
	if clean := path.Clean(given); clean+"/" == Prefix && given != Prefix || given != clean && given != clean+"/" {
		a.refuse(w, r, noRoute(r))
		return
	}
	a.mux.ServeHTTP(w, r)
}

// serve handles one request of a path: method, content type, then the endpoint.
func (a *api) serve(methods map[string]endpoint, w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http omits the body
	}
	e, known := methods[method]
	switch {
	case !known:
		a.refuse(w, r, wrongMethod(methods, a.control.WithoutKeys(r.Method)))
		return
	case (method == http.MethodPost || method == http.MethodPut) && !isJSON(r) && hasBody(r):
		a.refuse(w, r, &problem{http.StatusUnsupportedMediaType, codeMediaType, "el Content-Type no es application/json", "envíe Content-Type: application/json"})
		return
	case method != http.MethodGet && a.control.Recorded() && (strings.HasPrefix(e.path, "/_mock/contribuyentes/") || strings.HasPrefix(e.path, "/_mock/tiposcambio/")):
		a.refuse(w, r, &problem{
			http.StatusConflict, codeRecorded, "los contribuyentes y tipos de cambio son los de la grabación o del servicio real: ponga una falla, o edite la grabación",
			"vea las fallas en GET /_mock/faults",
		})
		return
	}
	answer, err := e.do(a, r)
	if err != nil {
		a.refuse(w, r, asProblem(err))
		return
	}
	if method != http.MethodGet {
		a.Log.Info("admin", "method", method, "path", a.control.WithoutKeys(r.URL.Path))
	}
	write(w, r, answer)
}

// refuse sends an error answer, in English if it is asked to. It hides a key that was sent in a wrong place.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	shown := *p
	shown.text = a.control.WithoutKeys(p.text)
	if r.Header.Get("Accept-Language") == "en" {
		shown.text, shown.hint = inEnglish(shown.text), inEnglish(shown.hint)
	}
	shown.write(w)
}

// hasBody reports whether a request has a body; one of unknown length may be empty.
func hasBody(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0
	}
	_, err := io.ReadFull(r.Body, make([]byte, 1))
	return !errors.Is(err, io.EOF)
}

func isJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "application/json"
}
