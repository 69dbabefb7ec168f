package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A reload is a start with other data: what was put goes, and the rest of the server stays.
func TestReload(t *testing.T) {
	taxpayer := func(ruc string) mockserver.Option {
		return mockserver.WithContribuyentes(mockserver.Contribuyente{RUC: ruc})
	}
	srv, api := start(t, taxpayer("20700000001"), mockserver.WithKey("clave-a", 5))
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20700000002"}))
	fault := srv.Fault(mockserver.Match{RUC: "20700000003", Times: 1}, mockserver.Status(503))
	require.Equal(t, 200, api.get("/api/contribuyentes/20700000001").status)
	for range 2 { // the second time from what the first one left
		require.NoError(t, srv.Control().Reload(taxpayer("20700000003"), mockserver.WithKey("clave-b", 7), mockserver.WithQuota(9)))
		require.NoError(t, srv.Reset(mockserver.PartData))
		for ruc, status := range map[string]int{"20700000001": 404, "20700000002": 404, "20131312955": 200} {
			assert.Equal(t, status, api.get("/api/contribuyentes/"+ruc).status, ruc)
		}
	}
	assert.Equal(t, 503, api.get("/api/contribuyentes/20700000003").status, "a fault stays")
	assert.Equal(t, 1, fault.Status().Hits)
	assert.Len(t, srv.Requests(), 8, "and the journal")
	assert.Equal(t, 401, api.withKey("clave-a").get("/api/contribuyentes/20700000003").status)
	assert.Equal(t, 200, api.withKey("clave-b").get("/api/contribuyentes/20700000003").status)
	q, _ := srv.Quota(srv.APIKey)
	assert.Equal(t, []int{9, 8}, []int{q.Limit, q.Used})

	plain, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	defer plain.Close()
	assert.Error(t, plain.Control().Reload(mockserver.WithKey("", 1)))
	assert.NoError(t, plain.Control().Reload(mockserver.WithData(mockserver.Data{WithoutDefaults: true})))
	_, known, _ := plain.Control().Contribuyente(t.Context(), "20131312955")
	assert.False(t, known)
	assert.NoError(t, plain.Control().Reload())
	_, known, _ = plain.Control().Contribuyente(t.Context(), "20131312955")
	assert.True(t, known)
}
