package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign is a small server that is not the mock: it writes answers byte by byte on a socket.
type foreign struct {
	url string

	mu   sync.Mutex
	seen int // requests
	left int // of its quota
}

// listen serves each connection with one request until the test ends.
func listen(t *testing.T, answer func(f *foreign, r *http.Request) string) *foreign {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &foreign{url: "http://" + listener.Addr().String(), left: 500}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				f.mu.Lock()
				f.seen++
				text := answer(f, r)
				f.mu.Unlock()
				text, hung := strings.CutSuffix(text, hangs)
				io.WriteString(conn, text)
				for text == endless {
					if _, err := io.WriteString(conn, strings.Repeat("9", 1<<16)); err != nil {
						return
					}
				}
				if hung { // until the client has left
					io.Copy(io.Discard, conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		served.Wait()
	})
	return f
}

// hangs ends an answer after which the server says no more, and keeps the connection.
const hangs = "\x00 and no more"

// endless is an answer without an end.
const endless = "HTTP/1.1 200 OK\r\n\r\n"

// raw is an answer of HTTP, with headers as "Name: value" lines.
func raw(status int, body string, headers ...string) string {
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	for _, header := range headers {
		text += header + "\r\n"
	}
	return text + "Connection: close\r\n\r\n" + body
}

const (
	foreignTaxpayer = `{"ruc":"20131312955","razonSocial":"Ministerio de la Ñandú Común S.A.","estado":"ACTIVO","condicion":"HABIDO",
		"direccion":"JR. UNO 1","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA","tipo":"OTROS",
		"actividadEconomica":"8411","fechaInscripcion":"1993-05-01","fechaInicioActividades":"1988-06-08"}`
	foreignRate = `{"compra": 3.7, "venta": 3.712, "moneda": "USD", "fecha": "2024-01-17", "origen": "SBS"}`
)

func foreignError(code string) string {
	return `{"error":"no se puede","code":"` + code + `"}`
}

// conforming answers as the contract has it, in ways of its own.
func conforming(f *foreign, r *http.Request) string {
	if r.Header.Get("X-API-KEY") != theKey {
		return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	}
	f.left--
	query := r.URL.Query()
	switch operationOf(r) {
	case search:
		return foreignSearch(query.Get("razonSocial"), query.Get("limit"), query.Has("limit"))
	case rate:
		switch fecha := query.Get("fecha"); {
		case fecha == "2024-01-17":
			return raw(200, foreignRate)
		case !query.Has("fecha") || len(fecha) == len("2024-01-17") && fecha[4] == '-':
			return raw(404, foreignError("NOT_FOUND"))
		}
		return raw(400, foreignError("E_FECHA"))
	case validation:
		return foreignValidation(r)
	}
	switch ruc := strings.TrimPrefix(r.URL.Path, "/api/contribuyentes/"); {
	case ruc == "20131312955":
		return raw(200, foreignTaxpayer, f.limits()...)
	case ruc == "20600000018":
		return raw(200, strings.Replace(foreignTaxpayer, "20131312955", ruc, 1), f.limits()...)
	case formOfRUC.MatchString(ruc):
		return raw(404, foreignError("NOT_FOUND"))
	}
	return raw(400, foreignError("E_RUC"))
}

func (f *foreign) limits() []string {
	return []string{"X-RateLimit-Limit: 500", "X-RateLimit-Remaining: " + strconv.Itoa(f.left), "X-RateLimit-Reset: 2031-01-01T05:00:00Z"}
}

func foreignSearch(text, limit string, limited bool) string {
	most, err := strconv.Atoi(limit)
	if !limited {
		most, err = 10, nil
	}
	switch {
	case len([]rune(text)) < 3:
		return raw(400, foreignError("SEARCH_TOO_SHORT"))
	case err != nil || most < 1 || most > 50:
		return raw(400, foreignError("E_LIMIT"))
	}
	var found []string
	for i := range 30 {
		name, ruc := fmt.Sprintf("EMPRESA NUMERO %d S.A.", i), fmt.Sprint(int64(20600000018)+int64(i))
		if i == 29 {
			name, ruc = "Ministerio de la Ñandú Común S.A.", "20131312955"
		}
		if strings.Contains(strings.ToUpper(name), strings.ToUpper(text)) && len(found) < most {
			found = append(found, fmt.Sprintf(`{"ruc":%q,"razonSocial":%q,"estado":%q,"condicion":"NO HALLADO"}`, ruc, name,
				[]string{"ACTIVO", "BAJA", "SUSPENSIÓN"}[i%3]))
		}
	}
	return raw(200, "["+strings.Join(found, ",")+"]")
}

func foreignValidation(r *http.Request) string {
	var cpe map[string]any
	_ = json.NewDecoder(r.Body).Decode(&cpe)
	for _, field := range cpeFields {
		if cpe[field] == nil {
			return raw(400, foreignError("E_CAMPOS"))
		}
	}
	for _, field := range []string{"rucEmisor", "rucSolicitante"} {
		if ruc, _ := cpe[field].(string); !formOfRUC.MatchString(ruc) {
			return raw(400, foreignError("E_RUC"))
		}
	}
	if cpe["usuarioSol"] != solUser || cpe["claveSol"] != theClave {
		return raw(401, foreignError("INVALID_SOL_CREDENTIALS"))
	}
	for _, c := range receipts {
		if cpe["numero"] == float64(c.Numero) && cpe["serie"] == c.Serie && cpe["tipoComprobante"] == c.Tipo {
			return raw(200, fmt.Sprintf(`{"codigo":%q,"mensaje":"","estado":%q,"esValido":%t}`, c.Codigo, resultados[c.Codigo], c.Codigo == "0"))
		}
	}
	return raw(422, foreignError("E_TIPO"))
}

// examineAt checks a server on a socket, and checks that it got no more requests than were announced.
func examineAt(t *testing.T, f *foreign, change ...func(*examination)) ([]*verdict, []Observation) {
	t.Helper()
	e, err := newExamination(fullTarget(f.url))
	require.NoError(t, err)
	e.wait = patience{time.Minute, time.Minute} // for a machine that is busy
	for _, c := range change {
		c(e)
	}
	results, seen := e.run(context.Background())
	f.mu.Lock()
	defer f.mu.Unlock()
	assert.LessOrEqual(t, f.seen, e.most, "the budget")
	return results, seen
}

// replaced changes the answers of conforming to the requests that is says.
func replaced(is func(*http.Request) bool, old, new string) func(*foreign, *http.Request) string {
	return func(f *foreign, r *http.Request) string {
		text := conforming(f, r)
		if !is(r) {
			return text
		}
		changed := strings.ReplaceAll(text, old, new)
		head, body, _ := strings.Cut(changed, "\r\n\r\n")
		_, before, _ := strings.Cut(text, "\r\n\r\n")
		return strings.Replace(head, fmt.Sprint("Content-Length: ", len(before)), fmt.Sprint("Content-Length: ", len(body)), 1) + "\r\n\r\n" + body
	}
}

func always(*http.Request) bool { return true }

func of(op operation) func(*http.Request) bool {
	return func(r *http.Request) bool { return operationOf(r) == op }
}

func TestOtherReadingsThatTheContractPermits(t *testing.T) {
	for name, answer := range map[string]func(*foreign, *http.Request) string{
		"the short list of estados, keys refused with 403 and nothing": conforming,
		"the table of estados":                   replaced(of(search), `"BAJA"`, `"BAJA DEFINITIVA"`),
		"a reset with a fraction":                replaced(of(lookup), "05:00:00Z", "05:00:00.250Z"),
		"a reset in the basic format":            replaced(of(lookup), "2031-01-01T05:00:00Z", "20310101T050000Z"),
		"HTTP/1.0 without a length":              replaced(always, "HTTP/1.1", "HTTP/1.0"),
		"codes of its own in the gaps":           replaced(always, `"code":"E_`, `"code":"400.`),
		"further fields":                         replaced(always, `{"`, `{"version":2,"`),
		"texts in \\u escapes":                   replaced(always, "SUSPENSIÓN", `SUSPENSI\u00d3N`),
		"no value":                               replaced(of(lookup), "150101", "-"),
		"an esValido that says nothing of Error": replaced(of(validation), `"estado":"Error","esValido":false`, `"estado":"Error","esValido":true`),
		"headers everywhere": func(f *foreign, r *http.Request) string {
			text := conforming(f, r)
			if strings.Contains(text, "X-RateLimit") {
				return text
			}
			return strings.Replace(text, "\r\nConnection", "\r\n"+strings.Join(f.limits(), "\r\n")+"\r\nConnection", 1)
		},
		"today's rate": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); operationOf(r) != rate || r.URL.RawQuery != "" {
				return text
			}
			return raw(200, strings.Replace(foreignRate, "2024-01-17", time.Now().Add(-5*time.Hour).UTC().Format(time.DateOnly), 1))
		},
		"today's rate, by the server's clock": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); operationOf(r) != rate || r.URL.RawQuery != "" {
				return text
			}
			return raw(200, strings.Replace(foreignRate, "2024-01-17", "2020-02-03", 1), "Date: Tue, 04 Feb 2020 04:59:58 GMT")
		},
		"a quota that ends, and nothing more than that": func(f *foreign, r *http.Request) string {
			f.left = max(min(f.left, 20), 1)
			return conforming(f, r)
		},
		"a search that is called for by its trade name": replaced(of(search), `"EMPRESA NUMERO 3 S.A."`, `"OTRA COSA"`),
	} {
		t.Run(name, func(t *testing.T) {
			results, _ := examineAt(t, listen(t, answer))
			assert.Empty(t, failing(results))
			assert.LessOrEqual(t, len(skipping(results)), 1, skipping(results))
		})
	}
}

// A part of a name that fifty others have may stand after them.
func TestANameThatManyHave(t *testing.T) {
	crowd := func(f *foreign, r *http.Request) string {
		text := conforming(f, r)
		if operationOf(r) != search || !strings.Contains(text, " 200 OK") || r.URL.Query().Get("limit") != "50" {
			return text
		}
		var all []string
		for i := range 50 {
			all = append(all, fmt.Sprintf(`{"ruc":"%d","razonSocial":"EMPRESA NUMERO %d S.A.","estado":"ACTIVO","condicion":"HABIDO"}`, 20600000018+int64(i), i))
		}
		return raw(200, "["+strings.Join(all, ",")+"]")
	}
	results, _ := examineAt(t, listen(t, crowd))
	assert.Empty(t, failing(results))
	skipped := skipping(results)
	for _, name := range []string{"4.2/the text may stand anywhere in the name", "4.2/lower case finds", "4.2/upper case finds"} {
		assert.Contains(t, skipped[name], "50 others have the text in their names")
	}
}
