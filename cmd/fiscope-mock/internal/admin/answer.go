package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/nearest"
)

// Codes of error answers. None is the contract's.
const (
	codeNoRoute    = "MOCK_ADMIN_NO_ROUTE"    // 404
	codeMethod     = "MOCK_ADMIN_METHOD"      // 405
	codeToken      = "MOCK_ADMIN_TOKEN"       // 401
	codeNeedsToken = "MOCK_ADMIN_NEEDS_TOKEN" // 403: the server has none, and others reach it
	codeOrigin     = "MOCK_ADMIN_ORIGIN"      // 403: sent by a web page of another origin
	codeHost       = "MOCK_ADMIN_HOST"        // 421: called by a name that is not this server's
	codeMediaType  = "MOCK_ADMIN_MEDIA_TYPE"  // 415
	codeTooLarge   = "MOCK_ADMIN_TOO_LARGE"   // 413
	codeInvalid    = "MOCK_ADMIN_INVALID"     // 400: the body or a parameter
	codeNotFound   = "MOCK_ADMIN_NOT_FOUND"   // 404: no such key, fault or user
	codeTimeout    = "MOCK_ADMIN_TIMEOUT"     // 409: what was waited for did not come
	codeEnding     = "MOCK_ADMIN_CLOSING"     // 503
	codeRegistry   = "MOCK_ADMIN_REGISTRY"    // 500: the registry in the place of the default taxpayers fails
)

// bodyMost bounds what a request may send: a data set can be large.
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

// asProblem turns what package mockserver refuses into an answer.
func asProblem(err error) *problem {
	if p := (*problem)(nil); errors.As(err, &p) {
		return p
	}
	return invalid("corrija el cuerpo de la petición; GET /_mock/ lista las rutas con su forma", "el servidor no lo acepta: %s", inSpanish(err))
}

// inSpanish is why package mockserver or encoding/json does not take something, without the names of Go.
func inSpanish(err error) string {
	told := interface{ Spanish() string }(nil)
	shape, syntax, moment := (*json.UnmarshalTypeError)(nil), (*json.SyntaxError)(nil), (*time.ParseError)(nil)
	switch {
	case errors.As(err, &told):
		return told.Spanish()
	case errors.As(err, &moment), strings.HasPrefix(err.Error(), "Time.UnmarshalJSON:"):
		return "now: una hora se escribe como 2026-11-20T16:59:00-05:00" // no other member is one
	case errors.As(err, &shape) && shape.Field != "":
		return fmt.Sprintf("%q es de otro tipo: se espera %s", shape.Field, wanted(shape.Type))
	case errors.As(err, &shape):
		return "no es un objeto"
	case errors.As(err, &syntax):
		return fmt.Sprintf("hay una coma, una comilla o una llave que no corresponde, en el byte %d", syntax.Offset)
	}
	if member, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return unknownMember + member
	}
	if strings.HasPrefix(err.Error(), "json: invalid number literal") { // it does not say which
		return "se espera un número como 3.750"
	}
	return "no se puede leer"
}

const unknownMember = "no existe el miembro "

// wanted is what a member takes.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[json.Number]() {
		return "un número como 3.750"
	}
	switch t.Kind() {
	case reflect.String:
		return "un texto, entre comillas"
	case reflect.Int:
		return "un número entero"
	case reflect.Bool:
		return "true o false"
	case reflect.Slice:
		return "una lista"
	}
	return "un objeto"
}

// noRoute names the route that may have been meant. It does not repeat the path, which may be anything.
func noRoute(r *http.Request) *problem {
	names := make([]nearest.Route, len(endpoints))
	for i, e := range endpoints {
		names[i] = nearest.Route{Method: e.method, Path: e.path}
	}
	near := names[nearest.Of(r.Method, r.URL.Path, names)]
	return &problem{http.StatusNotFound, codeNoRoute, "¿quiso decir " + near.String() + "? No existe esa ruta de administración", "vea las que hay en GET /_mock/"}
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

// write sends an endpoint's answer: JSON, a document, 204 for nil, or what a handler writes itself.
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
	e.SetIndent("", "  ") // read by people, with curl
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

// read decodes a request's body strictly. Where there is none, into stays as it is.
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
	case !utf8.Valid(body): // encoding/json would put another character in the place of what it cannot read
		return invalid("envíelo en UTF-8", "el cuerpo no es UTF-8, como debe ser JSON")
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // the BOM of some editors
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid(hint, "el cuerpo no es el JSON esperado: %s", inSpanish(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid(hint, "hay más texto después del objeto JSON")
	}
	if name := repeatedMember(json.NewDecoder(bytes.NewReader(body))); name != "" {
		return invalid("envíe cada miembro una sola vez", "%.40q está dos veces en el cuerpo", name)
	}
	return nil
}

// readSecret is read for a body with a secret, which may stand where a member's name is expected: no error quotes it.
func readSecret(r *http.Request, into any, shape string) error {
	err := read(r, into, shape)
	if err == nil {
		return nil
	}
	p := asProblem(err)
	if before, _, unknown := strings.Cut(p.text, unknownMember); unknown {
		p.text = before + "tiene un miembro que no existe"
	}
	return p
}

// parametersOf are those of a request's address, which may be the named ones only.
func (a *api) parametersOf(r *http.Request, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("revise los % de la dirección", "los parámetros no se pueden leer")
	}
	for name := range values {
		if !slices.Contains(names, name) {
			return nil, invalid(fmt.Sprintf("los parámetros son %v", names), "no hay ningún parámetro %.40q", a.Mock.WithoutKeys(name))
		}
	}
	return values, nil
}
