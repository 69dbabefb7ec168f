package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// four is one request of each operation, right in all but the key.
func four(t *testing.T, a api) map[string]func() reply {
	return map[string]func() reply{
		"lookup":        func() reply { return a.get("/api/contribuyentes/20131312955") },
		"search":        func() reply { return a.get("/api/contribuyentes/search?razonSocial=sunat") },
		"validation":    func() reply { return a.validar(cpe(t)) },
		"exchange rate": func() reply { return a.get("/api/tipocambio?fecha=2024-02-29") },
	}
}

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

func TestKeys(t *testing.T) {
	srv, api := start(t, mockserver.WithAPIKey("propia"), mockserver.WithKey("segunda", 1))
	require.Equal(t, "propia", srv.APIKey)
	assert.Equal(t, 200, api.get("/api/contribuyentes/20131312955").status)
	api.withKey(mockserver.DefaultAPIKey).get("/api/tipocambio").isError(t, 401, "UNAUTHORIZED")

	second := api.withKey("segunda")
	assert.Equal(t, "0", second.get("/api/contribuyentes/20131312955").header.Get("X-RateLimit-Remaining"))
	second.get("/api/contribuyentes/20131312955").isError(t, 429, "QUOTA_EXCEEDED")
	assert.Equal(t, 200, api.get("/api/contribuyentes/20131312955").status, "each key has its own quota")

	require.NoError(t, srv.PutKey("segunda", 3))
	r := second.get("/api/contribuyentes/20131312955")
	assert.Equal(t, "3", r.header.Get("X-RateLimit-Limit"))
	assert.Equal(t, "1", r.header.Get("X-RateLimit-Remaining"), "what was used today is kept")
	require.NoError(t, srv.PutKey("tercera", 5))
	assert.Equal(t, "4", api.withKey("tercera").get("/api/contribuyentes/20131312955").header.Get("X-RateLimit-Remaining"))
}

func TestKeysThatCannotBe(t *testing.T) {
	for name, opt := range map[string]mockserver.Option{
		"empty":          mockserver.WithAPIKey(""),
		"space":          mockserver.WithAPIKey("una clave"),
		"line break":     mockserver.WithKey("clave\n", 1),
		"accent":         mockserver.WithKey("cláve", 1),
		"negative quota": mockserver.WithKey("otra", -2),
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := mockserver.Start(opt)
			require.Error(t, err)
			assert.Nil(t, srv)
			assert.NotContains(t, err.Error(), "clave", "the key is not repeated")
		})
	}
}
