package admin

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestHealthAndList(t *testing.T) {
	r := start(t)
	var health map[string]string
	r.ok(&health, "GET", "healthz", "")
	assert.Equal(t, map[string]string{"status": "ok"}, health)
	assert.Equal(t, 200, r.do("HEAD", "healthz", "").status, "some probes ask so")
	got := r.do("GET", "", "")
	assert.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	assert.Equal(t, "no-store", got.header.Get("Cache-Control"))
	for _, e := range endpoints {
		assert.Contains(t, got.body, e.path)
	}
	for line := range strings.Lines(got.body) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 130, line)
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	r := start(t)
	r.do("GET", "nada", "").isProblem(t, 404, codeNoRoute, "GET /_mock/")
	got := r.do("DELETE", "clock", "")
	got.isProblem(t, 405, codeMethod, "use GET o PUT")
	assert.Equal(t, "GET, PUT", got.header.Get("Allow"))
	r.do("GET", "ca.pem", "").isProblem(t, 404, codeNotFound, "-tls")
}

// A page that somebody has open can send forms and plain text to any address, but not JSON, and no DELETE.
func TestAWebPageChangesNothing(t *testing.T) {
	r := start(t)
	for _, e := range endpoints {
		if e.method != http.MethodPost && e.method != http.MethodPut {
			continue
		}
		path := strings.ReplaceAll(strings.TrimPrefix(e.path, Prefix), "{name}", "x")
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json"} {
			r.do(e.method, path, `{"down": true, "frozen": true, "by": "1h"}`, "Content-Type", kind).isProblem(t, 415, codeMediaType, "application/json")
		}
	}
	assert.False(t, r.mock.Frozen())
	assert.Empty(t, r.do("GET", "clock", "", "Origin", "https://pagina.invalid").header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, 405, r.do("OPTIONS", "data", "", "Origin", "https://pagina.invalid").status, "a browser that asks first is refused")
	assert.Equal(t, 200, r.do("PUT", "clock", `{"frozen": true}`, "Content-Type", "application/json; charset=utf-8").status)
}

func TestToken(t *testing.T) {
	r := start(t)
	r.api.(*api).Token = "t0ken"
	r.api.(*api).CA = []byte("PEM")
	for name, c := range map[string]struct {
		path, authorization string
		status              int
	}{
		"none":              {"data", "", 401},
		"wrong":             {"data", "Bearer t0kem", 401},
		"a part":            {"data", "Bearer t0ke", 401},
		"another scheme":    {"data", "Basic t0ken", 401},
		"right":             {"data", "Bearer t0ken", 200},
		"right, lower case": {"data", "bearer t0ken", 200},
		"healthz is open":   {"healthz", "", 200},
		"ca.pem is open":    {"ca.pem", "", 200},
		"the list is not":   {"", "", 401},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do("GET", c.path, "", "Authorization", c.authorization)
			assert.Equal(t, c.status, got.status)
			if c.status == 401 {
				got.isProblem(t, 401, codeToken, "-admin-token")
				assert.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
				assert.NotContains(t, got.body, "t0ken")
			}
		})
	}
	for _, e := range endpoints {
		path := strings.NewReplacer("{name}", "x", "{ruc}", "1", "{usuario}", "x").Replace(strings.TrimPrefix(e.path, Prefix))
		want := 401
		if e.open {
			want = 200
		}
		assert.Equal(t, want, r.do(e.method, path, "{}").status, "%s %s", e.method, e.path)
	}
}

func TestLogsChanges(t *testing.T) {
	r := start(t)
	r.do("GET", "clock", "")
	r.do("PUT", "clock", `{"nada": 1}`)
	assert.Empty(t, r.log.String())
	r.do("PUT", "clock", `{"frozen": true}`)
	assert.Contains(t, r.log.String(), "path=/_mock/clock")
}

func TestBodies(t *testing.T) {
	r := start(t)
	for name, c := range map[string]struct{ body, says string }{
		"no JSON":        {"{", "no es el JSON esperado"},
		"unknown member": {`{"zona": 1, "frozen": true}`, "zona"},
		"wrong type":     {`{"frozen": "no"}`, "bool"},
		"more text":      {`{"frozen": true} x`, "más texto"},
		"a list":         {`[]`, "no es el JSON esperado"},
		"nothing":        {``, "no dice"},
		"empty":          {`{}`, "no dice"},
		"no RFC 3339":    {`{"now": "2026-11-20"}`, "2026-11-20T16:59:00-05:00"},
	} {
		t.Run(name, func(t *testing.T) {
			r.do("PUT", "clock", c.body).isProblem(t, 400, codeInvalid, c.says)
		})
	}
	assert.False(t, r.mock.Frozen())
}

func TestTooMuch(t *testing.T) {
	r := start(t)
	body := strings.Repeat(" ", bodyMost+1)
	r.do("PUT", "clock", body).isProblem(t, 413, codeTooLarge, "bytes")
	r.do("PUT", "data", body).isProblem(t, 413, codeTooLarge, "-data")
}
