package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope/internal/nearest"
	"github.com/fiscope/fiscope/internal/strictjson"
)

// Codes of error answers. None is in the contract.
const (
	codeNoRoute    = "MOCK_ADMIN_NO_ROUTE"    // 404
	codeMethod     = "MOCK_ADMIN_METHOD"      // 405
	codeToken      = "MOCK_ADMIN_TOKEN"       // 401
	codeNeedsToken = "MOCK_ADMIN_NEEDS_TOKEN" // 403: other machines reach the server, and it has no token
	codeOrigin     = "MOCK_ADMIN_ORIGIN"      // 403: sent by a web page of another origin
	codeHost       = "MOCK_ADMIN_HOST"        // 421: the host name is not this server's
	codeMediaType  = "MOCK_ADMIN_MEDIA_TYPE"  // 415
	codeTooLarge   = "MOCK_ADMIN_TOO_LARGE"   // 413
	codeInvalid    = "MOCK_ADMIN_INVALID"     // 400: the body or a parameter
	codeNotFound   = "MOCK_ADMIN_NOT_FOUND"   // 404: no such key, fault or user
	codeTimeout    = "MOCK_ADMIN_TIMEOUT"     // 409: a wait ended without its calls
	codeRecorded   = "MOCK_ADMIN_RECORDED"    // 409: the data is not what is answered
	codeEnding     = "MOCK_ADMIN_CLOSING"     // 503
	codeRegistry   = "MOCK_ADMIN_REGISTRY"    // 500: the registry used instead of the default taxpayers fails
)

// bodyMost limits a request's body: a data set can be large.
const bodyMost = 32 << 20

// problem is an error answer. Its text is in Spanish.
type problem struct {
	status           int
	code, text, hint string
}

func (p *problem) Error() string { return p.text }

func invalid(hint, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, codeInvalid, fmt.Sprintf(format, args...), hint}
}

func notFound(hint, text string) *problem {
	return &problem{http.StatusNotFound, codeNotFound, text, hint}
}

// asProblem converts an error of package mockserver to an answer.
func asProblem(err error) *problem {
	if p := (*problem)(nil); errors.As(err, &p) {
		return p
	}
	if reason := errors.Unwrap(err); reason != nil && strings.HasPrefix(err.Error(), "mockserver: ") {
		err = reason // without the Go method's name
	}
	return invalid("corrija el cuerpo de la petición; GET /_mock/ lista las rutas con su forma", "el servidor no lo acepta: %s", err)
}

// noRoute suggests a similar route, if there is one. It does not repeat the path, which may contain anything.
func noRoute(r *http.Request) *problem {
	names := make([]nearest.Route, len(endpoints))
	for i, e := range endpoints {
		names[i] = nearest.Route{Method: e.method, Path: e.path}
	}
	text := "no existe esa ruta de administración"
	if best, near := nearest.Of(r.Method, r.URL.Path, names); near {
		text = "no existe esa ruta de administración: ¿quiso decir " + names[best].String() + "?"
	}
	return &problem{http.StatusNotFound, codeNoRoute, text, "vea las que hay en GET /_mock/"}
}

func wrongMethod(methods map[string]endpoint, got string) *problem {
	var allowed []string
	for method := range methods {
		allowed = append(allowed, method)
	}
	slices.Sort(allowed)
	return &problem{http.StatusMethodNotAllowed, codeMethod, fmt.Sprintf("esta ruta no admite el método %.20q", got), "use " + strings.Join(allowed, " o ")}
}

func (p *problem) write(w http.ResponseWriter) {
	switch p.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", strings.ReplaceAll(strings.TrimPrefix(p.hint, "use "), " o ", ", "))
	}
	send(w, p.status, struct {
		Error string `json:"error"`
		Code  string `json:"code"`
		Hint  string `json:"hint"`
	}{p.text, p.code, p.hint})
}

// document is an answer that is not JSON.
type document struct{ media, text string }

// write sends an endpoint's answer: JSON, a document, 204 for nil, or an http.Handler's own.
func write(w http.ResponseWriter, r *http.Request, answer any) {
	switch answer := answer.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case http.Handler:
		answer.ServeHTTP(w, r)
	case document:
		w.Header().Set("Content-Type", answer.media)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer.text)))
		_, _ = io.WriteString(w, answer.text)
	default:
		send(w, http.StatusOK, answer)
	}
}

func send(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ") // people read it, with curl
	if err := e.Encode(v); err != nil {
		status = http.StatusInternalServerError
		body.Reset()
		body.WriteString(`{"error":"la respuesta no se pudo escribir","code":"MOCK_ADMIN_INTERNAL","hint":"es un error de fiscope-mock"}` + "\n")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// read decodes a request's body strictly. Without a body, into stays unchanged.
func read(r *http.Request, into any, shape string) error {
	hint := "envíe " + shape
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyMost+1))
	switch {
	case err != nil:
		return invalid("vuelva a enviarlo", "el cuerpo no llegó completo")
	case len(body) > bodyMost:
		return &problem{http.StatusRequestEntityTooLarge, codeTooLarge, fmt.Sprintf("el cuerpo supera %d bytes", bodyMost), "repártalo en varias peticiones"}
	case len(bytes.TrimSpace(body)) == 0:
		return nil
	}
	if err := strictjson.Decode(body, into); err != nil {
		return invalid(hint, "el cuerpo no es el JSON esperado: %s", err)
	}
	return nil
}

// readSecret is read for a body with a secret: no error quotes it, even if it is used as a member's name.
func readSecret(r *http.Request, into any, shape string) error {
	err := read(r, into, shape)
	if err == nil {
		return nil
	}
	p := asProblem(err)
	if before, _, unknown := strings.Cut(p.text, strictjson.UnknownMember); unknown {
		p.text = before + "tiene un miembro que no existe"
	}
	return p
}

// parametersOf returns the query parameters. Only the named ones are allowed.
func (a *api) parametersOf(r *http.Request, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("revise los % de la dirección", "los parámetros no se pueden leer")
	}
	for name := range values {
		if !slices.Contains(names, name) {
			return nil, invalid(fmt.Sprintf("los parámetros son %v", names), "no hay ningún parámetro %.40q", a.control.WithoutKeys(name))
		}
	}
	return values, nil
}
