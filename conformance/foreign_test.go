package conformance

import (
	"bufio"
	"compress/gzip"
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
		case !query.Has("fecha") || formOfFecha.MatchString(fecha):
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
			return raw(200, fmt.Sprintf(`{"codigo":%q,"mensaje":"","estado":%q,"esValido":%t}`, c.Codigo, estadoOf(c.Codigo), c.Codigo == "0"))
		}
	}
	return raw(422, foreignError("E_TIPO"))
}

// examineAt tells a server on a socket, and checks that it got no more requests than were announced.
func examineAt(t *testing.T, f *foreign, change ...func(*examination)) ([]result, []Observation) {
	t.Helper()
	e, err := newExamination(fullTarget(f.url))
	require.NoError(t, err)
	e.wait = patience{time.Minute, time.Minute} // for a machine that is busy
	for _, c := range change {
		c(e)
	}
	results, seen := e.run(context.Background(), nil)
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
		"a reset with +00:00":                    replaced(of(lookup), "05:00:00Z", "05:00:00+00:00"),
		"a reset in the basic format":            replaced(of(lookup), "2031-01-01T05:00:00Z", "20310101T050000Z"),
		"headers in lower case":                  replaced(of(lookup), "X-RateLimit-", "x-ratelimit-"),
		"a charset":                              replaced(always, "application/json", "application/json; charset=UTF-8"),
		"errors of application/problem+json":     replaced(func(r *http.Request) bool { return r.URL.Path == "/api/contribuyentes/20999999999" }, "application/json", "application/problem+json"),
		"no Content-Type":                        replaced(always, "Content-Type: application/json\r\n", ""),
		"HTTP/1.0 without a length":              replaced(always, "HTTP/1.1", "HTTP/1.0"),
		"codes of its own in the gaps":           replaced(always, `"code":"E_`, `"code":"400.`),
		"one code in the gaps":                   replaced(always, `"code":"E_`, `"x":"E_`+`","code":"E`),
		"further fields":                         replaced(always, `{"`, `{"version":2,"`),
		"other blanks":                           replaced(always, `":`, "\" :\n\t "),
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
		"headers everywhere but lookups, of another form": func(f *foreign, r *http.Request) string {
			text := conforming(f, r)
			if strings.Contains(text, "X-RateLimit") {
				return text
			}
			return strings.Replace(text, "\r\nConnection", "\r\nX-RateLimit-Remaining: varias\r\nConnection", 1)
		},
		"failures cost nothing": func(f *foreign, r *http.Request) string {
			text := conforming(f, r)
			if !strings.Contains(text, " 200 OK") && r.Header.Get("X-API-KEY") == theKey {
				f.left++
			}
			return text
		},
		"failures cost three": func(f *foreign, r *http.Request) string {
			text := conforming(f, r)
			if !strings.Contains(text, " 200 OK") {
				f.left -= 2
			}
			return text
		},
		"today's rate": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); operationOf(r) != rate || r.URL.RawQuery != "" {
				return text
			}
			return raw(200, strings.Replace(foreignRate, "2024-01-17", time.Now().In(lima).Format(time.DateOnly), 1))
		},
		"today's rate, by the server's clock": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); operationOf(r) != rate || r.URL.RawQuery != "" {
				return text
			}
			return raw(200, strings.Replace(foreignRate, "2024-01-17", "2020-02-03", 1), "Date: Tue, 04 Feb 2020 04:59:58 GMT")
		},
		"no 30 February": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); r.URL.Query().Get("fecha") != "2024-02-30" {
				return text
			}
			return raw(400, foreignError("E_FECHA"))
		},
		"keys refused with a redirect to a login": func(f *foreign, r *http.Request) string {
			if r.Header.Get("X-API-KEY") != theKey {
				return raw(302, "", "Location: /login")
			}
			return conforming(f, r)
		},
		"keys refused with a page": func(f *foreign, r *http.Request) string {
			if r.Header.Get("X-API-KEY") != theKey {
				return strings.Replace(raw(400, "<h1>No</h1>"), "application/json", "text/html", 1)
			}
			return conforming(f, r)
		},
		"chunked": func(f *foreign, r *http.Request) string {
			head, body, _ := strings.Cut(conforming(f, r), "\r\n\r\n")
			if body == "" {
				return head + "\r\n\r\n"
			}
			head = strings.Replace(head, fmt.Sprint("Content-Length: ", len(body)), "Transfer-Encoding: chunked", 1)
			return fmt.Sprintf("%s\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", head, 1, body[:1], len(body)-1, body[1:])
		},
		"gzip, as clients take it": func(f *foreign, r *http.Request) string {
			head, body, _ := strings.Cut(conforming(f, r), "\r\n\r\n")
			if body == "" {
				return head + "\r\n\r\n" + body
			}
			packed := new(strings.Builder)
			w := gzip.NewWriter(packed)
			_, _ = io.WriteString(w, body)
			_ = w.Close()
			head = strings.Replace(head, fmt.Sprint("Content-Length: ", len(body)), fmt.Sprint("Content-Encoding: gzip\r\nContent-Length: ", packed.Len()), 1)
			return head + "\r\n\r\n" + packed.String()
		},
		"a Content-Type with parameters of its own": replaced(always, "application/json", "Application/JSON ; charset; charset"),
		"today's rate, of the day in UTC": func(f *foreign, r *http.Request) string {
			if text := conforming(f, r); operationOf(r) != rate || r.URL.RawQuery != "" {
				return text
			}
			return raw(200, strings.Replace(foreignRate, "2024-01-17", "2020-02-04", 1), "Date: Tue, 04 Feb 2020 04:59:58 GMT")
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

func TestMistakesOfOtherServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*foreign, *http.Request) string
		owner  string
	}{
		"a reset at Lima's offset":         {replaced(of(lookup), "05:00:00Z", "00:00:00-05:00"), "8/X-RateLimit-Reset"},
		"a reset in seconds":               {replaced(of(lookup), "2031-01-01T05:00:00Z", "1925010000"), "8/X-RateLimit-Reset"},
		"no Remaining":                     {replaced(of(lookup), "X-RateLimit-Remaining", "X-Remaining"), "8/X-RateLimit-Remaining"},
		"JSON as text/html":                {replaced(of(search), "application/json", "text/html"), "1/a search answers in JSON"},
		"two values":                       {replaced(of(rate), `"SBS"}`, `"SBS"}{}`), "1/a rate answers in JSON"},
		"another origen":                   {replaced(of(rate), `"SBS"`, `"BCRP"`), "2.5/origen"},
		"estado of no list":                {replaced(of(search), `"BAJA"`, `"BAJA DE OFICIO"`), "3.1/estado of a search"},
		"condicion of no list":             {replaced(of(lookup), `"HABIDO"`, `"habido"`), "3.2/condicion of a lookup"},
		"an empty code":                    {replaced(of(lookup), `"E_RUC"`, `""`), "2.6/code of a lookup"},
		"another code for nobody":          {replaced(of(lookup), `"NOT_FOUND"`, `"E_404"`), "4.1/a RUC that nobody has is a 404 NOT_FOUND"},
		"a number for a codigo":            {replaced(of(validation), `"codigo":"2"`, `"codigo":2`), "2.4/codigo"},
		"another tipo answered with 200":   {replaced(of(validation), "422 Unprocessable Entity", "200 OK"), "2.3/another tipoComprobante is not answered with 200"},
		"a bad key taken":                  {badKeyTaken, "5.1/a validation with a bad key is refused"},
		"searches that cost two":           {searchesCost(2), "8/a search consumes 1 query"},
		"a search that counts bytes":       {countsBytes, "4.2/characters are counted, not bytes"},
		"case of ASCII letters alone":      {foldsASCII, "4.2/lower case finds"},
		"a body that is cut":               {replaced(of(rate), `"SBS"}`, `"SBS"`), "1/a rate answers in JSON"},
		"a length that does not come":      {replaced(of(rate), "Content-Length: ", "Content-Length: 1"), "1/a rate answers in JSON"},
		"Remaining twice":                  {replaced(of(lookup), "X-RateLimit-Remaining: ", "X-RateLimit-Remaining: 1\r\nX-RateLimit-Remaining: "), "8/X-RateLimit-Remaining"},
		"no answer to what it refuses":     {closes, "4.1/10 digits are a 400"},
		"a redirect to itself":             {redirects, "4.1/a taxpayer is an object"},
		"a holiday has a rate":             {holidays, "4.4/a national holiday has no rate"},
		"success in a member of its own":   {replaced(of(lookup), `{"ruc"`, `{"data":{"ruc"`), "4.1/a taxpayer is an object"},
		"an estado that is not esValido's": {replaced(of(validation), `"estado":"Anulado","esValido":false`, `"estado":"Anulado","esValido":true`), "4.3/a cancelled receipt is a success that says so"},
	} {
		t.Run(name, func(t *testing.T) {
			results, _ := examineAt(t, listen(t, c.answer))
			assert.Contains(t, failing(results), c.owner)
		})
	}
}

func badKeyTaken(f *foreign, r *http.Request) string {
	if operationOf(r) == validation && r.Header.Get("X-API-KEY") != "" {
		r.Header.Set("X-API-KEY", theKey)
	}
	return conforming(f, r)
}

func searchesCost(n int) func(*foreign, *http.Request) string {
	return func(f *foreign, r *http.Request) string {
		if operationOf(r) == search {
			f.left -= n - 1
		}
		return conforming(f, r)
	}
}

func countsBytes(f *foreign, r *http.Request) string {
	if text := r.URL.Query().Get("razonSocial"); operationOf(r) == search && len(text) >= 3 && len([]rune(text)) < 3 {
		f.left--
		return raw(200, "[]")
	}
	return conforming(f, r)
}

func foldsASCII(f *foreign, r *http.Request) string {
	if text := conforming(f, r); operationOf(r) != search || !strings.Contains(r.URL.Query().Get("razonSocial"), "ñ") {
		return text
	}
	return raw(200, "[]")
}

func closes(f *foreign, r *http.Request) string {
	if text := conforming(f, r); !strings.Contains(text, "E_RUC") {
		return text
	}
	return "\r\n"
}

func redirects(_ *foreign, r *http.Request) string {
	return raw(307, "", "Location: "+r.URL.String())
}

func holidays(f *foreign, r *http.Request) string {
	if text := conforming(f, r); r.URL.Query().Get("fecha") != "2024-01-01" {
		return text
	}
	return raw(200, strings.Replace(foreignRate, "2024-01-17", "2024-01-01", 1))
}

// Whatever comes, nothing panics, no more is sent than was announced, and the suite ends.
func TestOddAnswers(t *testing.T) {
	odd := map[string]string{
		"null": raw(200, "null"), "a list": raw(200, "[]"), "a list of lists": raw(200, "[[],[null],7]"), "a text": raw(200, `"hola"`),
		"a number": raw(200, "1e999999999"), "true": raw(200, "true"), "an empty object": raw(200, "{}"), "a page": raw(200, "<html>"),
		"nothing": raw(200, ""), "a 204": raw(204, ""), "a 304": "HTTP/1.1 304 Not Modified\r\n\r\n", "a 101": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{}",
		"a 999": raw(999, "{}"), "a 429": raw(429, "{}"), "a 500": raw(500, "null"), "no HTTP": "SSH-2.0-OpenSSH_9.6\r\n", "a blank line": "\r\n",
		"not UTF-8": raw(200, "{\"ruc\":\"\xff\xfe\"}"), "a byte order mark": raw(200, "\ufeff{}"), "too deep": raw(200, strings.Repeat(`{"a":`, 20_000)),
		"a large body": raw(200, `{"ruc":"`+strings.Repeat("9", 1<<20)+`"}`), "many results": raw(200, "["+strings.Repeat(`{"ruc":1},`, 13_000)+"{}]"),
		"large headers": raw(200, "{}", "X-Long: "+strings.Repeat("x", 1<<17)), "headers many times": raw(200, "{}", strings.Repeat("X-RateLimit-Remaining: 5\r\n", 100)+"A: b"),
		"hints": strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50), "members of other types": raw(200, `{"ruc":{},"razonSocial":[],"estado":7,"condicion":null,"codigo":{},"esValido":"no","compra":"x","fecha":[1],"error":{},"code":[]}`),
		"control characters": raw(400, `{"error":"\u0000\u001b[31m","code":"\u0007"}`), "results of other types": raw(200, `[7,"x",null,{"ruc":{}},{"ruc":"20131312955"}]`),
		"a member twice": raw(200, `{"ruc":"1","ruc":2}`), "a redirect elsewhere": raw(302, "", "Location: http://192.0.2.1/"),
	}
	for name, text := range odd {
		t.Run(name, func(t *testing.T) {
			results, seen := examineAt(t, listen(t, func(*foreign, *http.Request) string { return text }))
			assert.NotEmpty(t, failing(results))
			assert.Len(t, seen, len(points))
			table(seen)
			literal(seen)
		})
	}
}

// A server that hangs is waited for three times; one that hangs in the middle each time, until the time is over.
func TestAServerThatHangs(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		most       int
	}{
		"silent":        {hangs, "nothing more came within 200ms", mostSilent},
		"in the middle": {"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{" + hangs, "nothing more came within 200ms", 20},
	} {
		t.Run(name, func(t *testing.T) {
			f := listen(t, func(*foreign, *http.Request) string { return c.text })
			results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{200 * time.Millisecond, time.Second} })
			failed := failing(results)
			require.Contains(t, failed, "4.1/a taxpayer is an object")
			assert.Contains(t, failed["4.1/a taxpayer is an object"][0], c.says)
			assert.Contains(t, failed["4.4/a Saturday has no rate"][0], "not sent: ")
			f.mu.Lock()
			defer f.mu.Unlock()
			assert.LessOrEqual(t, f.seen, c.most)
		})
	}
}

// After a 101 the bytes are of another protocol: there is no body to wait for.
func TestASwitchOfProtocolsIsNotWaitedFor(t *testing.T) {
	f := listen(t, func(*foreign, *http.Request) string {
		return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{" + hangs
	})
	results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{5 * time.Second, 5 * time.Second} })
	assert.Contains(t, failing(results)["4.4/a Saturday has no rate"][0], "the status is 101: want 404")
}

// Connections that are closed cost no time, and what comes after them is asked.
func TestConnectionsThatAreClosedStopNothing(t *testing.T) {
	results, _ := examineAt(t, listen(t, func(f *foreign, r *http.Request) string {
		if operationOf(r) == lookup {
			return closes(f, r)
		}
		return conforming(f, r)
	}))
	failed := failing(results)
	for _, own := range []string{"1/a lookup answers in JSON", "2.6/error of a lookup", "2.6/code of a lookup", "4.1/10 digits are a 400",
		"4.1/12 digits are a 400", "4.1/a letter is a 400"} {
		assert.Contains(t, failed, own)
		delete(failed, own)
	}
	assert.Empty(t, failed)
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
	results, seen := examineAt(t, listen(t, crowd))
	assert.Empty(t, failing(results))
	skipped := skipping(results)
	for _, name := range []string{"4.2/the text may stand anywhere in the name", "4.2/lower case finds", "4.2/upper case finds"} {
		assert.Contains(t, skipped[name], "50 others have the text in their names")
	}
	assert.NotContains(t, seenBy(seen), "SearchByWords")
}

func TestTheTimeForAllOfThemIsBounded(t *testing.T) {
	f := listen(t, conforming)
	results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{time.Second, 0} })
	assert.Zero(t, f.seen)
	assert.Contains(t, failing(results)["4.4/a Saturday has no rate"][0], "the time for all of them is over")
	for _, url := range []string{"http://127.0.0.1:1", "http://localhost", "http://LocalHost:80", "http://[::1]:80", "http://0.0.0.0:80", "http://[::]:80"} {
		wait := Target{BaseURL: url}.patience()
		assert.Less(t, wait.all, 5*time.Second, url)
	}
	assert.Greater(t, Target{BaseURL: "https://api.example.com"}.patience().request, 10*time.Second, "a validation may take several seconds")
}
