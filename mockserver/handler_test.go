package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A request that somebody makes without a body, and that came by no connection, has a nil one.
func TestARequestWithANilBody(t *testing.T) {
	for name, fault := range map[string]mockserver.Step{"no fault": nil, "of a RUC": mockserver.OK, "waiting": mockserver.Latency(1)} {
		t.Run(name, func(t *testing.T) {
			srv, _ := start(t)
			if fault != nil {
				srv.Fault(mockserver.Match{RUC: lookedUp}, fault)
				srv.Fault(mockserver.Match{}, fault)
			}
			req, err := http.NewRequest(http.MethodPost, "/api/cpe/validar", nil)
			require.NoError(t, err)
			req.Header.Set("X-API-KEY", srv.APIKey)
			req.Header.Set("Content-Type", "application/json")
			rec := httptest.NewRecorder()
			srv.ServeHTTP(rec, req)
			assert.Equal(t, 400, rec.Code)
			assert.Contains(t, rec.Body.String(), "MOCK_INVALID_JSON")
			assert.Nil(t, req.Body, "the request is the caller's")
		})
	}
}
