package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryEndpointNeedsTheKey(t *testing.T) {
	_, api := start(t)
	for name, call := range four(t, api) {
		assert.Equal(t, 200, call().status, name)
	}
	for name, call := range four(t, api.withKey("")) {
		t.Run("missing, "+name, func(t *testing.T) {
			r := call()
			r.isError(t, 401, "UNAUTHORIZED")
			assert.Contains(t, r.body, "falta el encabezado X-API-KEY")
			assert.Empty(t, r.header.Get("X-RateLimit-Limit"))
		})
	}
	for name, call := range four(t, api.withKey("otra-clave-que-no-es")) {
		t.Run("unknown, "+name, func(t *testing.T) {
			r := call()
			r.isError(t, 401, "UNAUTHORIZED")
			assert.NotContains(t, r.body, "otra-clave", "a key is not repeated")
			assert.Empty(t, r.header.Get("X-RateLimit-Limit"))
		})
	}
	t.Run("in the wrong header", func(t *testing.T) {
		r := api.withKey("").send("GET", "/api/tipocambio", "", "Authorization", "Bearer "+api.key)
		r.isError(t, 401, "UNAUTHORIZED")
		assert.Contains(t, r.body, "Authorization")
		assert.NotContains(t, r.body, api.key)
	})
}

// A Server is a handler too: mounted elsewhere, or called without any connection.
func TestServerIsAHandler(t *testing.T) {
	srv, _ := start(t)
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/api/contribuyentes/20131312955", nil)
	req.Header.Set("X-API-KEY", srv.APIKey)
	srv.ServeHTTP(rec, req)
	assert.Equal(t, 200, rec.Code)
	assert.Equal(t, "999", rec.Header().Get("X-RateLimit-Remaining"))
}
