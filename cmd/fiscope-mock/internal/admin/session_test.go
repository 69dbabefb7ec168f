package admin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// cookieOf is the cookie that an answer sets, and its attributes.
func cookieOf(t *testing.T, got reply) (pair, attributes string) {
	t.Helper()
	require.Equal(t, 204, got.status, got.body)
	pair, attributes, _ = strings.Cut(got.header.Get("Set-Cookie"), "; ")
	return pair, attributes
}

func TestASessionLetsABrowserIn(t *testing.T) {
	r := start(t)
	r.api.(*api).Access.Token = "t0ken-largo"
	r.api.(*api).Version = "fiscope-mock 1"
	var s session
	r.ok(&s, "GET", "session", "")
	assert.Equal(t, session{Token: true, DefaultKey: true, Version: "fiscope-mock 1"}, s)
	for name, body := range map[string]string{"wrong": `{"token": "otro"}`, "empty": `{"token": ""}`, "none": `{}`, "no body": ``} {
		got := r.do("POST", "session", body)
		got.isProblem(t, 401, codeToken, "-admin-token")
		assert.Empty(t, got.header.Get("Set-Cookie"), name)
	}
	r.do("POST", "session", `{"clave": "x"}`).isProblem(t, 400, codeInvalid, "token")

	pair, attributes := cookieOf(t, r.do("POST", "session", `{"token": "t0ken-largo"}`))
	assert.Equal(t, "Path=/_mock; HttpOnly; SameSite=Strict", attributes)
	assert.NotContains(t, pair, "t0ken")
	assert.NotContains(t, r.log.String(), "t0ken")
	r.ok(&s, "GET", "session", "", "Cookie", pair)
	assert.False(t, s.Token, "it has been let in")
	for _, path := range []string{"clock", "requests", "data", ""} {
		assert.Equal(t, 401, r.do("GET", path, "").status)
		assert.Equal(t, 200, r.do("GET", path, "", "Cookie", pair).status)
		assert.Equal(t, 401, r.do("GET", path, "", "Cookie", "fiscope-mock=").status)
		assert.Equal(t, 401, r.do("GET", path, "", "Cookie", pair+"0").status)
		assert.Equal(t, 401, r.do("GET", path, "", "Authorization", "Bearer "+strings.TrimPrefix(pair, "fiscope-mock=")).status, "it is no token")
	}
	assert.Equal(t, 200, r.watch("", "Cookie", pair).status)
	r.do("POST", "reset", "", "Cookie", pair, "Origin", "https://pagina.invalid").isProblem(t, 403, codeOrigin, "otro origen")

	again := start(t) // another process with the same token
	again.api.(*api).Access.Token = "t0ken-largo"
	assert.Equal(t, 200, again.do("GET", "clock", "", "Cookie", pair).status)
	again.api.(*api).Access.Token = "otro-token"
	assert.Equal(t, 401, again.do("GET", "clock", "", "Cookie", pair).status)

	gone, attributes := cookieOf(t, r.do("DELETE", "session", "", "Cookie", pair))
	assert.Equal(t, "fiscope-mock=", gone)
	assert.Equal(t, "Path=/_mock; Max-Age=0; HttpOnly; SameSite=Strict", attributes)
}

// Over TLS the cookie goes nowhere else.
func TestTheCookieOverTLS(t *testing.T) {
	d := Access{Token: "t0ken"}
	assert.Contains(t, d.cookie(true, d.cookieValue()).String(), "; Secure")
}

func TestASessionWithoutAToken(t *testing.T) {
	r := start(t)
	var s session
	r.ok(&s, "GET", "session", "")
	assert.Equal(t, session{DefaultKey: true}, s)
	pair, _ := cookieOf(t, r.do("POST", "session", `{"token": "cualquiera"}`))
	assert.Empty(t, pair, "nobody asks for it")

	r.api.(*api).Access.Closed = true
	r.ok(&s, "GET", "session", "")
	assert.Equal(t, session{Closed: true, DefaultKey: true}, s)
	r.do("POST", "session", `{"token": ""}`).isProblem(t, 403, codeNeedsToken, "-admin-token")

	for name, opts := range map[string][]mockserver.Option{
		"another key":      {mockserver.WithAPIKey("otra-clave")},
		"both":             {mockserver.WithAPIKey("otra-clave"), mockserver.WithKey(mockserver.DefaultAPIKey, 5)},
		"it was taken off": {mockserver.WithData(mockserver.Data{Deleted: mockserver.Deleted{DefaultKey: true}})},
	} {
		r := start(t, opts...)
		r.ok(&s, "GET", "session", "")
		assert.False(t, s.DefaultKey, name)
	}
}

// What a browser is not asked for the token for holds no secret, and passes the same names.
func TestTheDoorBeforeThePage(t *testing.T) {
	r := start(t)
	r.api = New(Config{
		Mock: r.mock, Log: r.api.(*api).Log, Ending: t.Context(), OpenAPI: []byte("openapi: 3.0.3\n"),
		Page:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("page " + r.URL.Path)) }),
		Access: Access{Closed: true, Hosts: func(name string) bool { return name == "mock" }},
	})
	html := []string{"Accept", "text/html"}
	assert.Equal(t, "page /_mock/", r.do("GET", "", "", html...).body)
	assert.Equal(t, "page /_mock/page/page.js", r.do("GET", "page/page.js", "").body)
	got := r.do("GET", "openapi.yaml", "")
	assert.Equal(t, "openapi: 3.0.3\n", got.body)
	assert.Equal(t, "application/yaml", got.header.Get("Content-Type"))
	r.do("GET", "", "").isProblem(t, 403, codeNeedsToken, "-admin-token")
	for _, path := range []string{"clock", "data", "page", "pages/x", "requests/stream"} {
		r.do("GET", path, "", html...).isProblem(t, 403, codeNeedsToken, "-admin-token")
	}
	r.api.(*api).Access.Hosts = func(string) bool { return false }
	r.do("GET", "", "", html...).isProblem(t, 421, codeHost, "loopback")
	r.do("GET", "page/page.js", "").isProblem(t, 421, codeHost, "loopback")
}
