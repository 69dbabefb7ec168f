package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call sends one request with headers, of which Host is one, and returns the status and the body.
func call(t *testing.T, hc *http.Client, method, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Host = req.Header.Get("Host")
	req.Close = true
	resp, err := hc.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// A container starts without flags, and nobody reads keys and claves.
func TestWithoutATokenTheAdminAPIIsClosedToOthers(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0"} {
		t.Run(addr, func(t *testing.T) {
			url := serving(t, vars(), "-addr", addr, "-log", "off")
			status, _ := lookup(t, url, "clave-de-prueba")
			assert.Equal(t, 200, status, "the service is served")
			for _, c := range []string{
				"GET /_mock/", "GET /_mock/data", "GET /_mock/requests", "GET /_mock/sol", "PUT /_mock/clock", "POST /_mock/reset", "DELETE /_mock/data",
				"GET /_mock/nada", "PATCH /_mock/data", "GET /_mock/data/", "GET /_mock//data", "GET /_mock/healthz/",
			} {
				method, path, _ := strings.Cut(c, " ")
				status, body := call(t, http.DefaultClient, method, url+path, "Authorization", "Bearer ", "Host", "localhost")
				assert.Equal(t, 403, status, c)
				var p struct{ Error, Code, Hint string }
				require.NoError(t, json.Unmarshal([]byte(body), &p), body)
				assert.Contains(t, p.Hint, "-admin-token")
				assert.NotContains(t, body, "clave-de-prueba")
			}
			_, stderr, healthy := runMain(t, nil, "health", url)
			assert.Equal(t, 0, healthy, stderr)
			status, _ = call(t, http.DefaultClient, "GET", url+"/_mock/healthz", "Host", "mock.interno")
			assert.Equal(t, 200, status, "a probe calls it by any name")

			url = serving(t, vars("FISCOPE_MOCK_ADMIN_TOKEN", "t0ken"), "-addr", addr, "-log", "off")
			status, _ = call(t, http.DefaultClient, "GET", url+"/_mock/data")
			assert.Equal(t, 401, status)
			status, _ = call(t, http.DefaultClient, "GET", url+"/_mock/data", "Authorization", "Bearer t0ken", "Host", "mock.interno")
			assert.Equal(t, 200, status)
		})
	}
}

// A page of another site can let its own name point to this machine; the browser says that name.
func TestOnLoopbackTheAdminAPIKnowsItsNames(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	plain := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off")
	token := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-admin-token", "t0ken")
	secure := serving(t, vars(), "-addr", "localhost:0", "-log", "off", "-tls", "-tls-ca-file", ca, "-tls-host", "mock.interno", "-tls-host", "10.1.2.3")
	trusting := overTLS(t, ca)
	trusting.Transport.(*http.Transport).TLSClientConfig.ServerName = "localhost"
	for name, c := range map[string]struct {
		hc        *http.Client
		url, host string
		known     bool
	}{
		"localhost":             {http.DefaultClient, plain, "localhost", true},
		"in capitals, with dot": {http.DefaultClient, plain, "LocalHost.", true},
		"loopback":              {http.DefaultClient, plain, "127.0.0.1", true},
		"loopback of IPv6":      {http.DefaultClient, plain, "[::1]:8080", true},
		"another site":          {http.DefaultClient, plain, "pagina.invalid", false},
		"begins like ours":      {http.DefaultClient, plain, "localhost.pagina.invalid", false},
		"IP of another":         {http.DefaultClient, plain, "10.1.2.3", false},
		"any, with a token":     {http.DefaultClient, token, "pagina.invalid", true},
		"TLS, localhost":        {trusting, secure, "localhost", true},
		"TLS, a name of it":     {trusting, secure, "Mock.Interno:8443", true},
		"TLS, an IP of it":      {trusting, secure, "10.1.2.3:8443", true},
		"TLS, another":          {trusting, secure, "otro.interno", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"clock", "data", "", "nada"} {
				status, body := call(t, c.hc, "GET", c.url+"/_mock/"+path, "Host", c.host, "Authorization", "Bearer t0ken")
				if c.known {
					assert.NotEqual(t, 421, status)
				} else {
					assert.Equal(t, 421, status, "%s", path)
					assert.NotContains(t, body, "clave-")
				}
			}
			status, _ := call(t, c.hc, "GET", c.url+"/api/contribuyentes/20131312955", "Host", c.host, "X-API-KEY", "clave-de-prueba")
			assert.Equal(t, 200, status, "the service answers any name")
		})
	}
}
