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
	r.do("GET", "nada", "").isProblem(t, 404, codeNoRoute, "vea las que hay en GET /_mock/")
	for line, near := range map[string]string{
		"GET fault": "GET /_mock/faults", "POST fault": "POST /_mock/faults", "DELETE fault/x": "DELETE /_mock/faults/{name}",
		"POST advance": "POST /_mock/clock/advance", "GET request": "GET /_mock/requests", "POST faults/x/relase": "POST /_mock/faults/{name}/release",
		"POST resets": "POST /_mock/reset",
	} {
		method, path, _ := strings.Cut(line, " ")
		r.do(method, path, "").isProblem(t, 404, codeNoRoute, "no existe esa ruta de administración: ¿quiso decir "+near+"?")
	}
	for _, path := range []string{"/data", "./data", "x/../data", "data//", "//"} { // a mux would redirect them
		got := r.do("GET", path, "")
		got.isProblem(t, 404, codeNoRoute, "no existe esa ruta de administración")
		assert.Empty(t, got.header.Get("Location"))
	}
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
	assert.False(t, r.mock.Control().Frozen())
	assert.Empty(t, r.do("GET", "clock", "", "Origin", "https://pagina.invalid").header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, 405, r.do("OPTIONS", "data", "", "Origin", "https://pagina.invalid").status, "a browser that asks first is refused")
	assert.Equal(t, 200, r.do("PUT", "clock", `{"frozen": true}`, "Content-Type", "application/json; charset=utf-8").status)
}

// A reset that is silently not done lets the next test hang. A browser says whose page it sends a POST for.
func TestABodylessPOSTNeedsNoContentType(t *testing.T) {
	r := start(t)
	for name, c := range map[string]struct {
		header []string
		status int
	}{
		"nothing":           {[]string{"Content-Type", ""}, 204},
		"curl -d ''":        {[]string{"Content-Type", "application/x-www-form-urlencoded"}, 204},
		"JSON":              {nil, 204},
		"its own page":      {[]string{"Content-Type", "", "Origin", "http://mock", "Sec-Fetch-Site", "same-origin"}, 204},
		"typed by a person": {[]string{"Content-Type", "", "Sec-Fetch-Site", "none"}, 204},
		"a foreign origin":  {[]string{"Content-Type", "", "Origin", "https://pagina.invalid"}, 403},
		"another port":      {[]string{"Content-Type", "", "Origin", "http://mock:81"}, 403},
		"cross-site":        {[]string{"Content-Type", "", "Sec-Fetch-Site", "cross-site"}, 403},
		"foreign with JSON": {[]string{"Origin", "https://pagina.invalid"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			r.call(lookup, "s3creta")
			got := r.do("POST", "reset", "", c.header...)
			assert.Equal(t, c.status, got.status, got.body)
			if c.status == 204 {
				assert.Empty(t, r.mock.Requests())
				return
			}
			got.isProblem(t, 403, codeOrigin, "otro origen")
			assert.NotEmpty(t, r.mock.Requests())
		})
	}
	r.ok(new(any), "POST", "faults", `{"name": "espera", "steps": [{"hold": true}]}`)
	r.ok(nil, "POST", "faults/espera/release", "", "Content-Type", "")
	r.do("PUT", "clock", "", "Content-Type", "").isProblem(t, 400, codeInvalid, "no dice")
	assert.Equal(t, 403, r.do("DELETE", "data", "", "Sec-Fetch-Site", "cross-site").status)
	assert.Equal(t, 200, r.do("GET", "clock", "", "Sec-Fetch-Site", "cross-site").status, "a link; a page cannot read the answer")
}

func TestToken(t *testing.T) {
	r := start(t)
	r.api.(*api).Access.Token = "t0ken"
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
		switch {
		case e.method == http.MethodDelete && e.open: // of a session
			want = 204
		case e.open && e.method != http.MethodPost:
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

func TestTooMuch(t *testing.T) {
	r := start(t)
	body := strings.Repeat(" ", bodyMost+1)
	r.do("PUT", "clock", body).isProblem(t, 413, codeTooLarge, "bytes")
	r.do("PUT", "data", body).isProblem(t, 413, codeTooLarge, "-data")
}
