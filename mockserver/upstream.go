package mockserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Upstream is a real service.
type Upstream struct {
	URL   string                                  // https, or http to loopback
	File  string                                  // a recording to begin with, which may be missing; "" for none
	Again bool                                    // ask recorded questions again; the newest 200 stays instead of the first
	Save  func(write func(io.Writer) error) error // writes the recording, within a second; nil keeps it in memory
}

// asks reports whether a real service is asked, so that it decides about unknown keys. A nil recording asks none.
func (r *recording) asks() bool { return r != nil && r.URL != "" }

// serves reports whether an operation's answers are the real service's.
func (r *recording) serves(op Operation) bool { return r != nil && (op != OpValidar || r.asks()) }

// answer returns the real service's answer to a request, recorded or new, and what it cost there. If replaced, a fault's
// answer replaces it, so that none is asked for.
func (r *recording) answer(q *request, n *remark, assume *Assumptions, now time.Time, replaced bool) (answer, charge) {
	free := charge{limit: Unlimited} // the quota is the service's
	question := questionOf(q.r.URL)
	r.mu.Lock()
	known := r.answers[question]
	r.mu.Unlock()
	_, refused := r.refused.Load(q.key)
	switch final := []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound}; {
	case known != nil && (!r.asks() || !refused && !r.Again && slices.Contains(final, known.Status)):
		return known.answer, free
	case replaced:
		return answer{}, free
	case !r.asks():
		n.unrecorded = true
		return refusal(http.StatusNotImplemented, codeNotRecorded,
			"la grabación no tiene esta consulta: agréguela con -upstream y -record, o a mano en el archivo"), free
	}
	clave := ""
	if q.op == OpValidar {
		object, a := readObject(q)
		if _, err := q.readBody(); err != nil { // a part of it must not be sent
			return a, free
		}
		if cpe, _, ok := readCPE(object, assume); ok {
			q.ruc = cpe.comprobante.emisor
		}
		_ = json.Unmarshal(object["claveSol"], &clave) // it may be anything
	}
	r.sent.Store(q.key, true)
	r.sent.Store(clave, true)
	r.sent.Range(func(secret, _ any) bool { q.hide(secret.(string)); return true })
	asked := r.now()
	n.upstream = "asked"
	a, err := r.send(q)
	if err != nil {
		return refusal(http.StatusBadGateway, codeUpstream, "el servicio real no respondió: %s", q.keys.Out(whyAway(err))), free
	}
	if !conforms(q, a) {
		n.upstream = "strange"
	}
	switch {
	case q.op == OpValidar: // a clave belongs in no test's file
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		r.refused.Store(q.key, true)
	default:
		r.refused.Delete(q.key)
		if secrets := q.keys.Whole(); secrets.Out(question) == question {
			r.add(newRecorded(question, asked, a, secrets))
		}
	}
	return a, r.usage.charge(now, assume)
}

// send makes one request. A missing User-Agent stays missing.
func (r *recording) send(q *request) (answer, error) {
	const longest, most = time.Minute, 4 << 20
	ctx, cancel := context.WithTimeout(q.r.Context(), longest)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.to.method, strings.TrimRight(r.URL, "/")+q.r.URL.RequestURI(), bytes.NewReader(q.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("X-API-KEY", q.key)
	for _, name := range []string{"Accept", "Accept-Language", "Content-Encoding", "Content-Type", "User-Agent"} {
		req.Header[name] = q.r.Header[name]
	}
	resp, err := r.transport.RoundTrip(req) // it follows no redirect
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	for _, cookie := range resp.Cookies() {
		if len(cookie.Value) >= 8 { // a shorter one, such as "ACTIVO", may be other text of the body
			q.hide(cookie.Value)
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, most))
	return passedOn(resp.StatusCode, resp.Header, body), err
}

// whyAway returns the reason for a missing answer.
func whyAway(err error) string {
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooLarge):
		return "su respuesta pasa de 4 MiB"
	case errors.Is(err, context.DeadlineExceeded):
		return "no respondió a tiempo"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "su respuesta se cortó"
	}
	return err.Error()
}

// passedOn returns a service's answer with the headers that concern its caller: none redirects it.
func passedOn(status int, header http.Header, body []byte) answer {
	passed := http.Header{"Content-Type": nil, "Content-Length": {strconv.Itoa(len(body))}} // nil: net/http must not add one
	for name, values := range header {
		if keptHeader.MatchString(name) || name == "Www-Authenticate" {
			passed[name] = values
		}
	}
	var said wireError
	_ = json.Unmarshal(body, &said) // only errors have a code
	return answer{status: status, code: said.Code, body: body, passed: passed}
}

// taxpayerMembers are the members of docs/contract.md, 2.1; the first four are those of a search result.
var taxpayerMembers = strings.Fields("ruc razonSocial estado condicion direccion ubigeo departamento provincia distrito tipo " +
	"actividadEconomica fechaInscripcion fechaInicioActividades")

// conforms reports whether an answer has the contract's members, and is about what was asked.
func conforms(q *request, a answer) bool {
	var got any
	if json.Unmarshal(a.body, &got) != nil || !utf8.Valid(a.body) {
		return false
	}
	if a.status >= 400 {
		return have("", got, "error", "code")
	}
	o, _ := got.(map[string]any)
	query := q.r.URL.Query()
	switch q.op {
	case OpConsultar:
		return have("", got, taxpayerMembers...) && o["ruc"] == q.ruc
	case OpBuscar:
		list, ok := got.([]any)
		limit, valid := parseLimit(query)
		return ok && valid && len(list) <= limit && !slices.ContainsFunc(list, func(item any) bool { return !have("", item, taxpayerMembers[:4]...) })
	case OpTipoCambio:
		return have(0.0, got, "compra", "venta") && have("", got, "fecha", "origen") && o["moneda"] == "USD" && (!query.Has("fecha") || o["fecha"] == query.Get("fecha"))
	}
	r, known := resultados[fmt.Sprint(o["codigo"])]
	return known && have("", got, "codigo", "mensaje") && o["estado"] == r.estado && o["esValido"] == (o["codigo"] == CodigoAceptado)
}

// have reports whether a JSON value is an object with members of the type of like.
func have(like, value any, names ...string) bool {
	o, _ := value.(map[string]any)
	return !slices.ContainsFunc(names, func(name string) bool { return reflect.TypeOf(o[name]) != reflect.TypeOf(like) })
}
