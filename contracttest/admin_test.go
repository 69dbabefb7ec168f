package contracttest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const adminDocument = "../cmd/fiscope-mock/openapi-admin.yaml"

func init() {
	for _, media := range []string{"application/x-pem-file", "application/yaml", "text/html"} { // texts; what is in them is not the validator's
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.FileBodyDecoder)
	}
}

// adminCall is one request to the admin API, and what must come back.
type adminCall struct {
	method, path, body string // path under /_mock/; {0}, {1} stand for the keys' fingerprints
	status             int
	code               string // of an error
	header             [2]string
}

func (c adminCall) with(name, value string) adminCall {
	c.header = [2]string{name, value}
	return c
}

func ok(method, path string) adminCall { return adminCall{method: method, path: path, status: 200} }

func done(method, path, body string) adminCall {
	return adminCall{method: method, path: path, body: body, status: 204}
}

func put(method, path, body string) adminCall {
	return adminCall{method: method, path: path, body: body, status: 200}
}

func refused(method, path, body string, status int, code string) adminCall {
	return adminCall{method: method, path: path, body: body, status: status, code: "MOCK_ADMIN_" + code}
}

// Keys of the program under test, and what it is asked with.
const (
	ownKey   = "clave-propia"
	otherKey = "clave-de-otro-equipo"
	someday  = "2026-11-20T16:59:00-05:00"
	allKinds = `{"name": "todo", "match": {"op": "consultar", "key": "` + otherKey + `", "ruc": "20131312955", "userAgent": "curl", "text": "2013", "times": 2, "for": "1h"},
		"steps": [{"preset": "outage-503", "before": true, "latency": "1ms", "hold": true, "status": 502, "header": {"X-Uno": "1"}, "body": "x"}, {"preset": "latin-1+reset-inside"}]}`
)

// adminCalls reach every operation, with each status that can be reached from outside.
func adminCalls() []adminCall {
	const taxpayer, receipt, rate, user = "contribuyentes/20700000001", "comprobantes/20700000001/01/F001/7", "tiposcambio/2026-11-19", "sol/20700000001/USUARIO1"
	large := strings.Repeat(" ", 33<<20)
	return []adminCall{
		ok("GET", ""), ok("GET", "").with("Accept", "text/html,application/xhtml+xml"), ok("GET", "openapi.yaml"), ok("GET", "healthz"),
		refused("GET", "ca.pem", "", 404, "NOT_FOUND"),
		ok("GET", "session"), done("POST", "session", `{"token": "da igual"}`), done("POST", "session", `{}`), done("POST", "session", ""), refused("POST", "session", `{"token": 1}`, 400, "INVALID"), done("DELETE", "session", ""),

		ok("GET", "requests"), ok("GET", "requests?op=validar&status=401&code=INVALID_SOL_CREDENTIALS&ruc=20100070970&path=/api/cpe/validar&unmatched=false&after=0&limit=1&key={0}"),
		ok("GET", "requests?op=&ruc=&text=&path=&status=&code=&fault=&unmatched=&after=&key=&limit="), refused("GET", "requests?unmatched=T", "", 400, "INVALID"), refused("GET", "requests?unmatched=1", "", 400, "INVALID"),
		ok("GET", "requests?fault=corte"), ok("GET", "requests").with("X-API-KEY", ownKey),
		refused("GET", "requests?op=nada", "", 400, "INVALID"), refused("GET", "requests", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		ok("GET", "requests.har"), ok("GET", "requests.har?op=consultar&limit=2"), refused("GET", "requests.har?op=nada", "", 400, "INVALID"), refused("GET", "requests.har", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		ok("GET", "requests/wait?count=2&timeout=1s"), refused("GET", "requests/wait?count=1000000", "", 400, "INVALID"),
		refused("GET", "requests/wait?op=buscar&count=9&timeout=0s", "", 409, "TIMEOUT"), refused("GET", "requests/wait", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		refused("GET", "requests/stream?since=-1", "", 400, "INVALID"), refused("GET", "requests/stream", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		done("DELETE", "requests", "").with("X-API-KEY", otherKey), refused("DELETE", "requests", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),

		put("POST", "faults", allKinds), put("POST", "faults", `{"match": {"nth": 3}, "steps": [{"preset": "reset"}]}`).with("X-API-KEY", otherKey),
		refused("POST", "faults", `{"steps": []}`, 400, "INVALID"), refused("POST", "faults", `{"steps": [{}]}`, 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		ok("GET", "faults"), refused("GET", "faults", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"), ok("GET", "presets"),
		done("POST", "faults/todo/release", ""), refused("POST", "faults/nada/release", "", 404, "NOT_FOUND"),
		done("DELETE", "faults/todo", ""), refused("DELETE", "faults/todo", "", 404, "NOT_FOUND"),
		done("DELETE", "faults", ""), refused("DELETE", "faults", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		done("PUT", "sunat", `{"down": true}`), ok("GET", "sunat"), refused("PUT", "sunat", `{}`, 400, "INVALID"),

		ok("GET", "quotas"), ok("GET", "quotas").with("X-API-KEY", otherKey), refused("GET", "quotas", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		put("PUT", "quotas", `{"limit": 50, "used": 3}`), refused("PUT", "quotas", `{"limit": -2}`, 400, "INVALID"), refused("PUT", "quotas", `{"used": 1}`, 404, "NOT_FOUND").with("X-API-KEY", "nadie"),
		put("PUT", "quotas/{1}", `{"limit": -1}`), refused("PUT", "quotas/{1}", `{}`, 400, "INVALID"), refused("PUT", "quotas/k_00000000", `{"used": 1}`, 404, "NOT_FOUND"),
		done("POST", "keys", `{"key": "clave-nueva", "quota": 3}`), refused("POST", "keys", `{"key": ""}`, 400, "INVALID"), ok("GET", "keys"),

		put("PUT", "clock", `{"now": "2026-11-20T17:00:00-05:00", "frozen": true}`), ok("GET", "clock"), refused("PUT", "clock", `{}`, 400, "INVALID"),
		put("POST", "clock/advance", `{"by": "1h"}`), refused("POST", "clock/advance", `{"by": "un día"}`, 400, "INVALID"),

		done("PUT", taxpayer, `{"ruc": "20700000001", "razonSocial": "PRUEBA S.A.C.", "nombreComercial": "P", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": "D", "ubigeo": "150101", "departamento": "LIMA",
			"provincia": "LIMA", "distrito": "LIMA", "tipo": "SOCIEDAD ANONIMA CERRADA", "actividadEconomica": "A", "fechaInscripcion": "2020-01-02", "fechaInicioActividades": "2020-01-03"}`),
		refused("PUT", "contribuyentes/207", `{}`, 400, "INVALID"), ok("GET", taxpayer), refused("GET", "contribuyentes/99999999999", "", 404, "NOT_FOUND"),
		ok("GET", "contribuyentes"), ok("GET", "contribuyentes?text=prueba&limit=3"), refused("GET", "contribuyentes?limit=0", "", 400, "INVALID"),
		done("PUT", receipt, `{"rucEmisor": "20700000001", "tipoComprobante": "01", "serie": "F001", "numero": 7, "codigo": "2", "mensaje": "M", "luego": [{"codigo": "0", "mensaje": "L", "tras": "2m"}, {"codigo": "2", "consultas": 2}]}`), refused("PUT", receipt, `{"codigo": "1"}`, 400, "INVALID"),
		ok("GET", "comprobantes"), ok("GET", "comprobantes?ruc=20700000001&limit=1"), refused("GET", "comprobantes?limit=0", "", 400, "INVALID"),
		done("PUT", rate, `{"compra": 3.750, "venta": "3.760"}`), refused("PUT", "tiposcambio/2026-11-21", `{"compra": 1, "venta": 1}`, 400, "INVALID"),
		ok("GET", "tiposcambio"), ok("GET", "tiposcambio?mes=2026-12"), refused("GET", "tiposcambio?mes=13", "", 400, "INVALID"),
		done("PUT", user, `{"clave": "clave-de-usuario", "principal": true}`), refused("PUT", user, `{}`, 400, "INVALID"), ok("GET", "sol"),
		done("DELETE", "sol/20131312955/MIUSER01/block", ""), refused("DELETE", "sol/20131312955/NADIE/block", "", 404, "NOT_FOUND"),

		put("PUT", "assumptions", `{"BlockAfter": 5, "QuotaExceeded": "403:FORBIDDEN", "HeadersEverywhere": true}`), ok("GET", "assumptions"), refused("PUT", "assumptions", `{"Nada": 1}`, 400, "INVALID"),

		done("PUT", "data", `{"contribuyentes": [{"ruc": "20700000002"}], "comprobantes": [{"rucEmisor": "20700000002", "tipoComprobante": "03", "serie": "B001", "numero": 1, "codigo": "0"}],
			"usuarios": [{"ruc": "20700000002", "usuario": "U", "clave": "c", "principal": true}], "tiposCambio": [{"fecha": "2026-11-18", "compra": 3.7, "venta": 3.8}], "keys": [{"key": "clave-de-datos", "quota": 1}],
			"deleted": {"contribuyentes": ["20131312955"], "usuarios": [{"ruc": "20131312955", "usuario": "PRINCIP1"}], "tiposCambio": ["2026-11-17"], "defaultKey": true}}`),
		ok("GET", "data"), refused("PUT", "data", `{"nada": 1}`, 400, "INVALID"), refused("PUT", "data", large, 413, "TOO_LARGE"),

		done("DELETE", taxpayer, ""), refused("DELETE", taxpayer, "", 404, "NOT_FOUND"),
		done("DELETE", receipt, ""), refused("DELETE", receipt, "", 404, "NOT_FOUND"), refused("DELETE", "comprobantes/20700000001/01/F001/x", "", 400, "INVALID"),
		done("DELETE", rate, ""), refused("DELETE", "tiposcambio/2026-11-21", "", 400, "INVALID"), ok("GET", "tiposcambio"),
		done("POST", rate+"/restore", ""), refused("POST", "tiposcambio/x/restore", "", 400, "INVALID"),
		done("DELETE", user, ""), refused("DELETE", user, "", 404, "NOT_FOUND"),
		done("DELETE", "keys/{1}", ""), refused("DELETE", "keys/{1}", "", 404, "NOT_FOUND"),
		done("PUT", "data", `{"withoutDefaults": true}`), ok("GET", "data"), done("DELETE", "data", ""),
		done("POST", "reset", `{"parts": ["journal", "faults", "clock", "data", "locks", "quotas"]}`), done("POST", "reset", ""),
		refused("POST", "reset", `{"parts": ["nada"]}`, 400, "INVALID"), refused("POST", "reset", "", 404, "NOT_FOUND").with("X-API-KEY", "nadie"),

		refused("GET", "nada", "", 404, "NO_ROUTE"), refused("PATCH", "clock", "", 405, "METHOD"), refused("PUT", "clock", `{}`, 415, "MEDIA_TYPE").with("Content-Type", "text/plain"),
		refused("GET", "clock", "", 421, "HOST").with("Host", "otro.invalid"), refused("PUT", "clock", `{"frozen": true}`, 403, "ORIGIN").with("Origin", "https://pagina.invalid"),
	}
}

// exchanged is what went over the wire: a request, its answer, and the data of events.
type exchanged struct {
	request func() *http.Request
	reply   reply
	events  []event
}

// check judges it by a document: the answer, and the request if it was not refused.
func (e exchanged) check(c *contract) error {
	if _, err := c.route(e.request()); err != nil {
		return c.checkError(e.reply) // no operation of the document: its answer is an error all the same
	}
	for _, ev := range e.events {
		if err := c.checkEvent(ev); err != nil {
			return err
		}
	}
	if e.events == nil {
		if err := c.checkAnswer(e.request(), e.reply); err != nil {
			return err
		}
	}
	if e.reply.status < 300 {
		return c.checkRequest(e.request())
	}
	return nil
}

func (c *contract) checkError(r reply) error { return c.checkSchema("Error", r.body) }

func (c *contract) checkSchema(name string, text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return c.doc.Components.Schemas[name].Value.VisitJSON(value, schemaOptions...)
}

// event is one of a stream.
type event struct{ name, data string }

func (c *contract) checkEvent(ev event) error {
	return c.checkSchema(strings.ToUpper(ev.name[:1])+ev.name[1:], []byte(ev.data))
}

// program starts fiscope-mock until the test ends, and returns its URL.
func program(t *testing.T, args ...string) (url string) {
	t.Helper()
	return start(t, "http", binary(t), append([]string{"-addr", "127.0.0.1:0", "-now", someday, "-frozen"}, args...)...)
}

// ask sends one request of a list, and fails where another answer comes.
func ask(t *testing.T, url string, call adminCall) exchanged {
	t.Helper()
	request := func() *http.Request {
		req := newRequest(t, call.method, url+"/_mock/"+call.path, "", call.body)
		switch name, value := call.header[0], call.header[1]; name {
		case "":
		case "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
		return req
	}
	got := roundTrip(t, request())
	said := fmt.Sprintf("%s %s: %s", call.method, call.path, got.body)
	require.Equal(t, call.status, got.status, said)
	switch {
	case call.code != "":
		var p struct{ Code string }
		require.NoError(t, json.Unmarshal(got.body, &p), said)
		require.Equal(t, call.code, p.Code, said)
	case call.status == http.StatusNoContent:
		require.Empty(t, got.body, said)
	}
	return exchanged{request: request, reply: got}
}

// follow opens the stream, does something once it has begun, and returns its events up to the one that last finds.
func follow(t *testing.T, url string, last *regexp.Regexp, do func()) exchanged {
	t.Helper()
	request := func() *http.Request {
		return newRequest(t, http.MethodGet, url+"/_mock/requests/stream?since=0", "", "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(request().WithContext(ctx))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
	e := exchanged{request: request, reply: reply{resp.StatusCode, resp.Header, nil}}
	var now event
	for lines := bufio.NewScanner(resp.Body); len(e.events) == 0 || !last.MatchString(e.events[len(e.events)-1].data); {
		require.True(t, lines.Scan(), "the stream ended after %v", e.events)
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event":
			now.name = value
		case name == "data":
			now.data = value
		case lines.Text() == "" && now.name != "":
			e.events, now = append(e.events, now), event{}
			if len(e.events) == 1 {
				do()
			}
		}
	}
	return e
}

// exercise makes the program answer with everything that the document describes, and returns what went over the wire.
func exercise(t *testing.T) (all []exchanged) {
	t.Helper()
	url := program(t, "-api-key", ownKey+"=100", "-api-key", otherKey+"=5")
	service := func(url, method, path, key, body string) int {
		req := newRequest(t, method, url+path, key, body)
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	all = append(all, follow(t, url, regexp.MustCompile(`"n":7,.*"status":401`), func() {
		fault := put("POST", "faults", `{"name": "corte", "match": {"op": "consultar"}, "steps": [{"preset": "reset"}]}`)
		ask(t, url, fault)
		require.Zero(t, service(url, "GET", lookupPath, ownKey, ""))
		ask(t, url, done("DELETE", "faults", ""))
		require.Equal(t, 200, service(url, "GET", lookupPath, ownKey, ""), "the same again")
		require.Equal(t, 200, service(url, "GET", searchPath, ownKey, ""))
		require.Equal(t, 200, service(url, "GET", lookupPath, otherKey, ""))
		ask(t, url, done("DELETE", "requests", "").with("X-API-KEY", otherKey))
		for range 3 {
			require.Equal(t, 401, service(url, "POST", cpePath, ownKey, readSample(t, requestSample)))
		}
	}))
	recorder := program(t, "-upstream", "http://127.0.0.1:1")
	require.Equal(t, 502, service(recorder, "GET", lookupPath, ownKey, ""), "asked in vain")
	all = append(all, ask(t, recorder, ok("GET", "requests")))
	var keys []struct{ Key string }
	got := ask(t, url, ok("GET", "keys"))
	require.NoError(t, json.Unmarshal(got.reply.body, &keys))
	all = append(all, got, ask(t, url, ok("GET", "sol")))
	named := strings.NewReplacer("{0}", keys[0].Key, "{1}", keys[1].Key)
	for _, call := range adminCalls() {
		call.path = named.Replace(call.path)
		all = append(all, ask(t, url, call))
	}
	return all
}

func TestAdminAPIAnswersByItsDocument(t *testing.T) {
	c := load(t, adminDocument)
	all := exercise(t)
	reached := map[string]bool{}
	for _, e := range all {
		req := e.request()
		require.NoError(t, e.check(c), "%s %s: %s", req.Method, req.URL, e.reply.body)
		if _, err := c.route(e.request()); err == nil {
			reached[c.row(t, e.request(), e.reply.status)] = true
		}
	}
	for _, row := range c.documented() {
		operation, status, _ := strings.Cut(row, " ")
		switch status {
		case "401", "421": // of every operation, below
		case "500", "503": // a registry that is damaged under the program, a program that ends: tests of the package admin
		default:
			if row != "getCA 200" { // below
				assert.True(t, reached[row], "no call reaches %s of %s", status, operation)
			}
		}
	}
	t.Run("a renamed member is noticed", func(t *testing.T) { everyMemberIsNeeded(t, all) })
	t.Run("the document is served as it is", func(t *testing.T) {
		raw, err := os.ReadFile(adminDocument)
		require.NoError(t, err)
		for _, e := range all {
			if e.request().URL.Path == "/_mock/openapi.yaml" {
				assert.True(t, bytes.Equal(raw, e.reply.body))
			}
		}
	})
}

// everyMemberIsNeeded takes each member out of the document: then something that went over the wire must be refused.
func everyMemberIsNeeded(t *testing.T, all []exchanged) {
	c := load(t, adminDocument)
	for name, schema := range c.doc.Components.Schemas {
		for member, is := range schema.Value.Properties {
			delete(schema.Value.Properties, member)
			noticed := false
			for _, e := range all {
				if noticed = e.check(c) != nil; noticed {
					break
				}
			}
			assert.True(t, noticed, "nothing on the wire has the member %s of %s", member, name)
			schema.Value.Properties[member] = is
		}
	}
}

// The list that the program gives and its document name the same operations.
func TestAdminDocumentHasTheProgramsRoutes(t *testing.T) {
	c := load(t, adminDocument)
	url := program(t)
	var listed, documented []string
	for _, line := range regexp.MustCompile(`(?m)^([A-Z]+) +(/_mock/\S*)`).FindAllStringSubmatch(string(ask(t, url, ok("GET", "")).reply.body), -1) {
		listed = append(listed, line[1]+" "+line[2])
	}
	for path, item := range c.doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	assert.ElementsMatch(t, documented, listed)
}

// Without the token every operation answers 401 but the open ones, and by another name every one 421.
func TestAdminDocumentSaysWhatIsOpen(t *testing.T) {
	c := load(t, adminDocument)
	const token = "token-de-prueba"
	closed, named := program(t, "-admin-token", token, "-tls"), program(t)
	paths := strings.NewReplacer("{fingerprint}", "k_00000000", "{name}", "x", "{ruc}", "20131312955", "{usuario}", "x", "{fecha}", "2026-11-20",
		"{rucEmisor}", "20131312955", "{tipo}", "01", "{serie}", "F001", "{numero}", "1")
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	send := func(req *http.Request) reply {
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return reply{resp.StatusCode, resp.Header, body}
	}
	conforms := func(req *http.Request, status int) reply {
		t.Helper()
		got := send(req)
		require.Equal(t, status, got.status, "%s %s: %s", req.Method, req.URL, got.body)
		require.NoError(t, c.checkAnswer(newRequest(t, req.Method, req.URL.String(), "", ""), got), "%s %s", req.Method, req.URL)
		return got
	}
	for path, item := range c.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			req := newRequest(t, method, named+paths.Replace(path), "", "")
			req.Host = "otro.invalid"
			conforms(req, http.StatusMisdirectedRequest)
			open := operation.Security != nil && len(*operation.Security) == 0
			if !open {
				conforms(newRequest(t, method, closed+paths.Replace(path), "", ""), http.StatusUnauthorized)
			}
			for status, has := range map[string]bool{"401": !open || operation.OperationID == "postSession", "421": open} {
				assert.Equal(t, has, operation.Responses.Value(status) != nil, "%s %s", operation.OperationID, status)
			}
		}
	}

	api := closed + "/_mock/"
	conforms(newRequest(t, "GET", api+"healthz", "", ""), 200)
	conforms(newRequest(t, "GET", api+"ca.pem", "", ""), 200)
	assert.Equal(t, "fiscope-mock", c.doc.Components.SecuritySchemes["Cookie"].Value.Name)
	assert.Equal(t, openapi3.ParameterInCookie, c.doc.Components.SecuritySchemes["Cookie"].Value.In)
}
