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

	"github.com/fiscope/fiscope"
)

// Upstream is a real service.
type Upstream struct {
	URL   string                                  // https, or http to loopback
	File  string                                  // a recording to begin with, which may be missing; "" for none
	Again bool                                    // ask recorded questions again; the newest 200 stays instead of the first
	Save  func(write func(io.Writer) error) error // writes the recording, within a second; nil keeps it in memory
}

// WithUpstream answers lookups, searches and rates from a recording, or asks a real service with the caller's key and
// records what it answers. It asks all validations, and records none.
func WithUpstream(u Upstream) Option {
	_, err := fiscope.NewClient(u.URL, "x") // which refuses to send a key there
	return setUnless(err != nil, "WithUpstream: se espera la URL de un servicio con https; con http, solo de esta máquina", func(c *config) { c.upstream = &u })
}

// WithRecording answers lookups, searches and rates from a file of fiscope-mock -record, and any other with a 501. The clock
// starts at the last answer, unless [WithNow] sets it. Validations are answered from the data.
func WithRecording(path string) Option {
	return set(func(c *config) { c.upstream = &Upstream{File: path} })
}

// asks reports whether a real service is asked, so that it decides about unknown keys. A nil recording asks none.
func (r *recording) asks() bool { return r != nil && r.URL != "" }

// real returns the real service's answer to a call, recorded or new; false if the data have the answer.
func (c *call) real() (answer, bool) {
	r := c.recording
	if r == nil || c.op == OpValidar && !r.asks() {
		return answer{}, false
	}
	c.charge = charge{limit: Unlimited} // the quota is the service's
	if c.op == OpValidar && (c.sunatDown || c.data.sunatDown.Load()) {
		return validar(c, c.assume), true
	}
	question := questionOf(c.r.URL)
	known := r.find(question)
	_, refused := r.refused.Load(c.key)
	switch final := []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound}; {
	case known != nil && (!r.asks() || !refused && !r.Again && slices.Contains(final, known.Status)):
		return known.answer, true
	case c.replaced:
		return answer{}, true
	case r.asks():
		return c.ask(question), true
	}
	c.unrecorded = true
	return refusal(http.StatusNotImplemented, codeNotRecorded,
		"la grabación no tiene esta consulta: agréguela con -upstream y -record, o a mano en el archivo"), true
}

// ask asks the real service, and records its answer.
func (c *call) ask(question string) answer {
	r, clave := c.recording, ""
	if c.op == OpValidar {
		object, refused := readObject(c)
		if _, err := c.readBody(); err != nil { // a part of it must not be sent
			return refused
		}
		if q, _, ok := readCPE(object, c.assume); ok {
			c.ruc = q.comprobante.emisor
		}
		_ = json.Unmarshal(object["claveSol"], &clave) // it may be anything
	}
	r.sent.Store(c.key, true)
	r.sent.Store(clave, true)
	r.sent.Range(func(secret, _ any) bool { c.hide(secret.(string)); return true })
	asked := c.clock.source()
	c.asked = "asked"
	a, err := r.send(c)
	if err != nil {
		return refusal(http.StatusBadGateway, codeUpstream, "el servicio real no respondió: %s", c.keys.Out(whyAway(err)))
	}
	c.charge, c.charged = r.usage.charge(c.now, c.assume)
	if !c.conforms(a) {
		c.asked = "strange"
	}
	switch {
	case c.op == OpValidar: // a clave belongs in no test's file
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		r.refused.Store(c.key, true)
	default:
		r.refused.Delete(c.key)
		if c.keys.Out(question) == question {
			r.add(newRecorded(question, asked, a, c.keys))
		}
	}
	return a
}

// send makes one request. A missing User-Agent stays missing.
func (r *recording) send(c *call) (answer, error) {
	const longest, most = time.Minute, 4 << 20
	ctx, cancel := context.WithTimeout(c.r.Context(), longest)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.to.method, strings.TrimRight(r.URL, "/")+c.r.URL.RequestURI(), bytes.NewReader(c.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("X-API-KEY", c.key)
	for _, name := range []string{"Accept", "Accept-Language", "Content-Encoding", "Content-Type", "User-Agent"} {
		req.Header[name] = c.r.Header[name]
	}
	resp, err := r.transport.RoundTrip(req) // it follows no redirect
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, most))
	return passedOn(resp.StatusCode, resp.Header, body), err
}

// whyAway returns the reason for a missing answer.
func whyAway(err error) string {
	switch {
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
		if kept.MatchString(name) || name == "Www-Authenticate" {
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
func (c *call) conforms(a answer) bool {
	var got any
	if json.Unmarshal(a.body, &got) != nil || !utf8.Valid(a.body) {
		return false
	}
	if a.status >= 400 {
		return have("", got, "error", "code")
	}
	o, _ := got.(map[string]any)
	query := c.r.URL.Query()
	switch c.op {
	case OpConsultar:
		return have("", got, taxpayerMembers...) && o["ruc"] == c.ruc
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
