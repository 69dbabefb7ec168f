package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A body that was made before is sent only of the very same record, and no fault writes into it.
func TestLookupOfARecordThatChanges(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	first := api.get(lookup).body
	for _, p := range mockserver.Presets() {
		if p.Effect.Latency > 0 || p.Effect.Chunk > 0 || strings.HasPrefix(string(p.Effect.Break), "hang") {
			continue // they only wait
		}
		srv.Fault(mockserver.Match{Times: 1}, p.Name)
		_, _ = api.try("GET", lookup, "")
		require.Equal(t, first, api.get(lookup).body, p.Name)
	}
	for i := range 1000 { // more than are kept
		ruc := fmt.Sprintf("2000000%04d", i)
		require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: ruc, Direccion: "ANTES", Estado: "ACTIVO"}))
		require.Contains(t, api.get("/api/contribuyentes/"+ruc).body, `"direccion":"ANTES"`)
		require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: ruc, Direccion: "DESPUÉS", Estado: "ACTIVO"}))
		require.Contains(t, api.get("/api/contribuyentes/"+ruc).body, `"direccion":"DESPUÉS"`)
	}
	assert.Equal(t, first, api.get(lookup).body)
}
