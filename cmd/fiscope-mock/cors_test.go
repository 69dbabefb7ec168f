package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCORS(t *testing.T) {
	const page, other = "http://localhost:5173", "https://app.ejemplo.pe"
	closed := serving(t, nil, "-addr", "127.0.0.1:0", "-log", "off")
	open := serving(t, nil, "-addr", "127.0.0.1:0", "-log", "off", "-cors", page, "-cors", other+"/", "-quota", "1")
	send := func(method, url, origin string, header ...string) *http.Response {
		req, err := http.NewRequest(method, url, nil)
		require.NoError(t, err)
		req.Close = true
		req.Header.Set("Origin", origin)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	const path = "/api/contribuyentes/20131312955"
	asks := []string{"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-api-key"}
	for _, origin := range []string{page, other} {
		preflight := send("OPTIONS", open+path, origin, asks...)
		assert.Equal(t, 204, preflight.StatusCode)
		assert.Equal(t, origin, preflight.Header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "GET, POST", preflight.Header.Get("Access-Control-Allow-Methods"))
		assert.Equal(t, "X-API-KEY, Content-Type", preflight.Header.Get("Access-Control-Allow-Headers"))
		assert.Equal(t, "Origin", preflight.Header.Get("Vary"))
	}
	for _, status := range []int{200, 429} {
		answer := send("GET", open+path, page, "X-API-KEY", "clave-de-prueba")
		assert.Equal(t, status, answer.StatusCode)
		assert.Equal(t, page, answer.Header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After", answer.Header.Get("Access-Control-Expose-Headers"))
	}
	for name, answer := range map[string]*http.Response{
		"another page's preflight":  send("OPTIONS", open+path, "http://localhost:5174", asks...),
		"another page's call":       send("GET", open+path, "null", "X-API-KEY", "clave-de-prueba"),
		"by default":                send("GET", closed+path, page, "X-API-KEY", "clave-de-prueba"),
		"by default, the preflight": send("OPTIONS", closed+path, page, asks...),
		"the admin API":             send("GET", open+"/_mock/requests", page),
		"its preflight":             send("OPTIONS", open+"/_mock/requests", page, asks...),
		"no page's path":            send("GET", open+"/apis", page),
	} {
		for header := range answer.Header {
			assert.NotContains(t, header, "Access-Control", name)
		}
	}
	_, journal := ask(t, "GET", open+"/_mock/requests", "")
	assert.NotContains(t, journal, `"status": 204`, "a preflight that is answered is no call")

	for _, origin := range []string{"*", "null", "localhost:5173", "http://", "ftp://a", "http://a/b", "http://a?b", "http://u@a", ""} {
		_, stderr, status := runMain(t, nil, "-addr", "127.0.0.1:0", "-cors", origin)
		assert.Equal(t, 2, status, origin)
		assert.Contains(t, stderr, "de -cors: se espera un origen como http://localhost:5173")
	}
}
