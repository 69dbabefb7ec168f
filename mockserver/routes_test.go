package mockserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrongMethod(t *testing.T) {
	_, api := start(t, mockserver.WithQuota(0)) // refused before the quota is looked at
	for path, allow := range map[string]string{
		"/api/contribuyentes/20131312955":           "GET, HEAD",
		"/api/contribuyentes/search?razonSocial=ab": "GET, HEAD",
		"/api/tipocambio":                           "GET, HEAD",
		"/api/cpe/validar":                          "POST",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			if strings.Contains(allow, method) {
				continue
			}
			t.Run(method+" "+path, func(t *testing.T) {
				r := api.send(method, path, "")
				assert.Equal(t, allow, r.header.Get("Allow"))
				if method == "HEAD" { // an answer to HEAD has no body
					assert.Equal(t, 405, r.status)
					return
				}
				r.isError(t, 405, "MOCK_METHOD")
				assert.Contains(t, r.body, strings.TrimSuffix(allow, ", HEAD")+" /api/")
			})
		}
	}
}

func TestUnknownPathNamesTheNearestRoute(t *testing.T) {
	_, api := start(t)
	for path, near := range map[string]string{
		"/api/contribuyente/20131312955":                  "GET /api/contribuyentes/{ruc}",
		"/contribuyentes/20131312955":                     "GET /api/contribuyentes/{ruc}",
		"/api/contribuyentes/20131312955/":                "GET /api/contribuyentes/{ruc}",
		"/api/contribuyentes":                             "GET /api/contribuyentes/{ruc}",
		"/api/contribuyentes/":                            "GET /api/contribuyentes/{ruc}",
		"/api/contribuyentes/search/":                     "GET /api/contribuyentes/search",
		"/api/contribuyentes/serch/":                      "GET /api/contribuyentes/search",
		"/api/tipo-cambio":                                "GET /api/tipocambio",
		"/api/tipocambio/2026-11-20":                      "GET /api/tipocambio",
		"/api/cpe":                                        "POST /api/cpe/validar",
		"/api/cpe/validate":                               "POST /api/cpe/validar",
		"/api/cpe/validar/" + strings.Repeat("x", 50_000): "POST /api/cpe/validar",
		"/":        "",
		"/version": "",
	} {
		t.Run(path[:min(len(path), 40)], func(t *testing.T) {
			r := api.get(path)
			r.isError(t, 404, "MOCK_NO_ROUTE")
			text := r.object(t)["error"].(string)
			assert.Equal(t, near != "", strings.Contains(text, ". ¿Quiso decir "+near), "only what is near is a guess: %s", text)
			for _, route := range []string{"GET /api/contribuyentes/search", "GET /api/contribuyentes/{ruc}", "POST /api/cpe/validar", "GET /api/tipocambio"} {
				assert.Equal(t, 1, strings.Count(text, route), "each route once: %s", text)
			}
			assert.Less(t, len(text), 600)
		})
	}
}

func TestUnknownPathSaysWhatIsWrongWithIt(t *testing.T) {
	_, api := start(t)
	for path, why := range map[string]string{
		"/api/tipocambio/":                       ": sobra la barra final. ",
		"/api//tipocambio":                       ": tiene // o puntos (. o ..), que no se admiten. ",
		"/api/Contribuyentes/20131312955":        ": lleva mayúsculas, y va en minúsculas. ",
		"/contribuyentes/20131312955":            ": le falta /api al comienzo. ",
		"/v1/api/tipocambio":                     ": le sobra lo que está antes de /api. ",
		"/api/contribuyentes":                    ": le falta el RUC al final. ",
		"/api/contribuyentes?razonSocial=gloria": ": le falta /search al final. ¿Quiso decir GET /api/contribuyentes/search? Las otras",
		"/api/contribuyentes/":                   ": le falta el RUC al final. ",
		"/api/tipo-cambio":                       "». ¿Quiso",
		"/":                                      "». Las rutas",
		"/api/api/contribuyentes/20131312955/":   "». ¿Quiso",
	} {
		assert.Contains(t, api.get(path).body, why, path)
	}
}

// A browser asks first whether a page may call, and the answer says how to allow one.
func TestPreflight(t *testing.T) {
	_, api := start(t)
	r := api.send("OPTIONS", "/api/cpe/validar", "", "Origin", "http://localhost:5173", "Access-Control-Request-Method", "POST")
	r.isError(t, 405, "MOCK_METHOD")
	assert.Contains(t, r.body, "navegador")
	assert.Contains(t, r.body, "-cors «http://localhost:5173»")
	assert.Empty(t, r.header.Get("Access-Control-Allow-Origin"))
	assert.NotContains(t, api.send("OPTIONS", "/api/cpe/validar", "").body, "navegador")
}

// HEAD is GET without the body, and costs the same.
func TestHEAD(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-21T12:00:00-05:00"))
	for _, path := range []string{lookup, "/api/contribuyentes/search?razonSocial=sunat", "/api/tipocambio?fecha=2024-02-29", "/api/contribuyentes/207", "/api/nada"} {
		get := api.get(path)
		require.NoError(t, srv.Reset(mockserver.PartQuotas))
		head := api.send("HEAD", path, "")
		require.NoError(t, srv.Reset(mockserver.PartQuotas))
		assert.Equal(t, get.status, head.status, path)
		assert.Equal(t, get.header, head.header, path)
		assert.Empty(t, head.body)
		entries := srv.Requests()
		assert.Equal(t, entries[len(entries)-2].Cost, entries[len(entries)-1].Cost)
		assert.Empty(t, entries[len(entries)-1].Answer, "nothing of it was sent")
	}
	srv.Fault(mockserver.Match{}, mockserver.Slow)
	assert.Equal(t, 200, api.send("HEAD", lookup, "").status)
	assert.False(t, srv.Requests(mockserver.Filter{Fault: "slow-1"})[0].Broken)
	assert.Equal(t, 405, api.send("HEAD", "/api/cpe/validar", "").status)
}

func TestTheMethodTellsWhichRouteWasMeant(t *testing.T) {
	_, api := start(t)
	for line, near := range map[string]string{
		"POST /api/comprobante/validar": "POST /api/cpe/validar", "POST /api/contribuyente/search": "GET /api/contribuyentes/search",
	} {
		method, path, _ := strings.Cut(line, " ")
		assert.Contains(t, api.send(method, path, "{}").body, "¿Quiso decir "+near+"?", line)
	}
}

// ServeMux cleans these by a redirect in HTML, or answers them without a body.
func TestPathsThatTheMuxWouldAnswerItself(t *testing.T) {
	srv := mockserver.New(t)
	for _, line := range []string{
		"GET //api/tipocambio", "GET /api//tipocambio", "GET /api/tipocambio//", "GET /./api/tipocambio",
		"GET /api/../api/tipocambio", "GET /api/contribuyentes/..", "GET /api/contribuyentes/search/../20131312955",
		"GET /api/contribuyentes/.", "POST //api/cpe/validar", "OPTIONS *", "GET //", "GET /..",
		"CONNECT 127.0.0.1:80",
	} {
		t.Run(line, func(t *testing.T) {
			head, body := raw(t, srv, line+" HTTP/1.1\r\nHost: mock\r\nX-API-KEY: "+srv.APIKey+"\r\nConnection: close\r\n\r\n")
			assert.Contains(t, head, "HTTP/1.1 404 Not Found\r\n")
			assert.Contains(t, head, "\r\nContent-Type: application/json\r\n")
			assert.NotContains(t, head, "Location:")
			assert.Contains(t, body, `"code":"MOCK_NO_ROUTE"`)
		})
	}
	t.Run("an escaped letter is the letter", func(t *testing.T) {
		head, _ := raw(t, srv, "GET /api/contribuyentes/%73earch?razonSocial=sunat HTTP/1.1\r\nHost: mock\r\nX-API-KEY: "+srv.APIKey+"\r\nConnection: close\r\n\r\n")
		assert.Contains(t, head, "HTTP/1.1 200 OK\r\n")
		assert.NotContains(t, strings.ToLower(head), "x-ratelimit", "search, not a lookup of the RUC \"search\"")
	})
}

// raw writes bytes to the server's socket and returns the answer's head and body as they came.
func raw(t *testing.T, srv *mockserver.Server, request string) (head, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	answer, err := io.ReadAll(bufio.NewReader(conn))
	require.NoError(t, err)
	head, body, found := strings.Cut(string(answer), "\r\n\r\n")
	require.True(t, found, "no head in %q", answer)
	return head + "\r\n", body
}

func TestLookupOverRawBytes(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(7), frozen(t, "2026-11-21T09:30:00-05:00"))
	head, body := raw(t, srv, "GET /api/contribuyentes/20100053455 HTTP/1.1\r\nHost: mock\r\nx-api-key: "+srv.APIKey+"\r\nConnection: close\r\n\r\n")
	assert.Contains(t, head, "HTTP/1.1 200 OK\r\n")
	assert.Contains(t, head, "\r\nX-RateLimit-Limit: 7\r\n", "PHP's $http_response_header is compared byte by byte")
	assert.Contains(t, head, "\r\nX-RateLimit-Remaining: 6\r\n")
	assert.Contains(t, head, "\r\nX-RateLimit-Reset: 2026-11-22T05:00:00Z\r\n")
	srv.Fault(mockserver.Match{}, mockserver.Slow)
	slow, _ := raw(t, srv, "GET /api/contribuyentes/20100053455 HTTP/1.1\r\nHost: mock\r\nx-api-key: "+srv.APIKey+"\r\nConnection: close\r\n\r\n")
	assert.Contains(t, slow, "\r\nX-RateLimit-Remaining: 5\r\n", "also by a fault")
	assert.Contains(t, head, fmt.Sprintf("\r\nContent-Length: %d\r\n", len(body)))
	assert.True(t, strings.HasPrefix(body, `{"ruc":"20100053455","razonSocial":"BANCO INTERNACIONAL DEL PERU-INTERBANK",`), body)
}
