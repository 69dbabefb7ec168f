package conformance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// net/http sends a GET again where a connection that it has kept is closed in its face.
func TestNothingIsSentTwice(t *testing.T) {
	assert.True(t, newTransport().DisableKeepAlives)
}

func TestWhatIsReadIsBounded(t *testing.T) {
	f := listen(t, func(*foreign, *http.Request) string { return endless })
	results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{2 * time.Second, 2 * time.Second} })
	assert.Contains(t, failing(results)["4.1/a taxpayer is an object"][0], "the body has 131072 bytes or more")

	f = listen(t, func(*foreign, *http.Request) string { return raw(200, "{}", "X-Long: "+strings.Repeat("x", 1<<17)) })
	results, _ = examineAt(t, f)
	assert.Contains(t, failing(results)["4.1/a taxpayer is an object"][0], "headers exceeded 65536 bytes")
}

// A request carries the key as the contract writes its header, and says who asks.
func TestWhatARequestCarries(t *testing.T) {
	var carried []string
	f := listen(t, func(_ *foreign, r *http.Request) string {
		body, _ := io.ReadAll(r.Body)
		carried = append(carried, fmt.Sprintf("%s %s %s%s%s %d %s", r.Method, r.URL, r.Header["X-Api-Key"], r.Header["Content-Type"], r.Header["User-Agent"], r.ContentLength, body))
		return raw(200, "{}")
	})
	examineAt(t, f)
	assert.Zero(t, countOf(carried, func(line string) bool { return strings.Contains(line, solUser) && !strings.Contains(line, "claveSol") }),
		"without its clave no user that there is is tried: some service may count it")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 ["+theKey+"][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 [][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, "GET /api/contribuyentes/20131312955 ["+unknownKey+"][][fiscope-conformance] 0 ")
	assert.Contains(t, carried, `POST /api/cpe/validar [`+theKey+`][application/json][fiscope-conformance] 166 `+
		`{"claveSol":"cl\"av\\e SOL ñ%'7","numero":124,"rucEmisor":"20100070970","rucSolicitante":"20131312955","serie":"F001","tipoComprobante":"01","usuarioSol":"CONFORME"}`)
	assert.Contains(t, carried, "GET /api/contribuyentes/search?razonSocial=%C3%91%C3%81 ["+theKey+"][][fiscope-conformance] 0 ")
}

// Lookups stand around all other operations, which are not blamed for what lookups cost.
func TestALookupThatCostsMoreIsNoOtherThatDoes(t *testing.T) {
	for name, breaks := range map[string]func(http.Handler) http.Handler{
		"two":  times(lookup, func(*reply) int { return 2 }),
		"none": free(lookup),
	} {
		results, _ := examine(t, breaks(newMock(t)), fullTarget("http://mock.invalid"))
		failed := failing(results)
		assert.Contains(t, failed, "8/a lookup consumes 1 query", name)
		assert.Len(t, failed, 1, name)
	}
}

// Where a request between two lookups fails, nothing is said of what the others have cost.
func TestAfterAFailedRequestNothingIsSaidOfCosts(t *testing.T) {
	breaks := answering(search, withQuery("razonSocial", noSuchName), failWith(503, "X"))
	a := mockserver.DefaultAssumptions()
	a.ChargeFailures = false
	free := free(search)
	results, _ := examine(t, free(breaks(newMock(t, mockserver.WithAssumptions(a)))), fullTarget("http://mock.invalid"))
	const many, one = "8/a search consumes 1 query, however many it finds", "8/a search consumes 1 query"
	assert.NotContains(t, failing(results), many)
	assert.Contains(t, skipping(results)[many], "1 requests between two lookups failed")
	assert.Contains(t, failing(results), one, "where none has failed")
}

func closes(f *foreign, r *http.Request) string {
	if text := conforming(f, r); !strings.Contains(text, "E_RUC") {
		return text
	}
	return "\r\n"
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

// A server that hangs is waited for until the time is over.
func TestAServerThatHangs(t *testing.T) {
	for name, text := range map[string]string{
		"silent": hangs, "in the middle": "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{" + hangs,
	} {
		t.Run(name, func(t *testing.T) {
			f := listen(t, func(*foreign, *http.Request) string { return text })
			results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{200 * time.Millisecond, time.Second} })
			failed := failing(results)
			require.Contains(t, failed, "4.1/a taxpayer is an object")
			assert.Contains(t, failed["4.1/a taxpayer is an object"][0], "nothing more came within 200ms")
			assert.Contains(t, failed["4.4/a Saturday has no rate"][0], "not sent: ")
			f.mu.Lock()
			defer f.mu.Unlock()
			assert.LessOrEqual(t, f.seen, 20)
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
	for _, own := range []string{"4.1/10 digits are a 400", "4.1/12 digits are a 400", "4.1/a letter is a 400"} {
		assert.Contains(t, failed, own)
		delete(failed, own)
	}
	assert.Empty(t, failed)
}

func TestTheTimeForAnswersThatDoNotComeIsBounded(t *testing.T) {
	f := listen(t, conforming)
	results, _ := examineAt(t, f, func(e *examination) { e.wait = patience{time.Second, 0} })
	assert.Zero(t, f.seen)
	assert.Contains(t, failing(results)["4.4/a Saturday has no rate"][0], "the time for answers that do not come is over")
	for _, url := range []string{"http://127.0.0.1:1", "http://localhost", "http://LocalHost:80", "http://[::1]:80", "http://0.0.0.0:80", "http://[::]:80"} {
		wait := Target{BaseURL: url}.patience()
		assert.Less(t, wait.all, 5*time.Second, url)
	}
	assert.Greater(t, Target{BaseURL: "https://api.example.com"}.patience().request, 10*time.Second, "a validation may take several seconds")
}
