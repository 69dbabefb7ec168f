package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	assert.Equal(t, []mockserver.Key{{Key: "propia", Quota: 1000}, {Key: "segunda", Quota: 3}, {Key: "tercera", Quota: 5}}, srv.Control().Keys())
	assert.Equal(t, "4", api.withKey("tercera").get("/api/contribuyentes/20131312955").header.Get("X-RateLimit-Remaining"))
}

func TestKeysThatCannotBe(t *testing.T) {
	for name, opt := range map[string]mockserver.Option{
		"empty":          mockserver.WithAPIKey(""),
		"space":          mockserver.WithAPIKey("una llave"),
		"line break":     mockserver.WithKey("llave\n", 1),
		"accent":         mockserver.WithKey("lláve", 1),
		"negative quota": mockserver.WithKey("otra", -2),
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := mockserver.Start(opt)
			require.Error(t, err)
			assert.Nil(t, srv)
			assert.NotContains(t, err.Error(), "llave", "the key is not repeated")
		})
	}
}
