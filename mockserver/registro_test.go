package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brokenRegistro fails, with a text that must not leave.
type brokenRegistro struct{}

func (brokenRegistro) PorRUC(context.Context, string) (mockserver.Contribuyente, bool, error) {
	return mockserver.Contribuyente{}, false, errors.New("disco interno /dev/sda")
}

func (brokenRegistro) Buscar(context.Context, string, int) ([]mockserver.Contribuyente, error) {
	return nil, errors.New("disco interno /dev/sda")
}

func TestRegistro(t *testing.T) {
	t.Run("takes the place of the default taxpayers", func(t *testing.T) {
		var registro mockserver.RegistroEnMemoria
		require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "SOLO ESTE"}))
		srv, api := start(t, mockserver.WithRegistro(&registro))
		assert.Equal(t, 200, api.get("/api/contribuyentes/20000000001").status)
		assert.Equal(t, 404, api.get("/api/contribuyentes/20131312955").status)
		assert.Equal(t, []string{"20000000001"}, rucs(api.get("/api/contribuyentes/search?razonSocial=solo").body))
		require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "PUESTO ENCIMA"}))
		assert.Contains(t, api.get("/api/contribuyentes/20000000001").body, "PUESTO ENCIMA")
		assert.Equal(t, "[]\n", api.get("/api/contribuyentes/search?razonSocial=solo").body, "the hidden record is not found")
		require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: "20000000002", RazonSocial: "SOLO ESTE OTRO"}))
		assert.Equal(t, []string{"20000000002"}, rucs(api.get("/api/contribuyentes/search?razonSocial=solo&limit=1").body), "nor takes another's place")
		require.NoError(t, registro.Put(
			mockserver.Contribuyente{RUC: "20000000003", RazonSocial: "CASI IGUAL"},
			mockserver.Contribuyente{RUC: "20000000004", RazonSocial: "CASI IGUAL"},
		))
		assert.Equal(t, []string{"20000000003"}, rucs(api.get("/api/contribuyentes/search?razonSocial=casi&limit=1").body), "one is one")
		_, found, err := registro.PorRUC(t.Context(), "20000000001")
		require.NoError(t, err)
		assert.True(t, found, "the Registro itself is not written")
	})
	t.Run("failing", func(t *testing.T) {
		_, api := start(t, mockserver.WithRegistro(brokenRegistro{}))
		for _, path := range []string{"20131312955", "search?razonSocial=sunat"} {
			r := api.get("/api/contribuyentes/" + path)
			r.isError(t, 500, "MOCK_REGISTRY_FAILURE")
			assert.NotContains(t, r.body, "/dev/sda")
		}
	})
}

// inSpanish fails with a reason for the reader of the answer.
type inSpanish struct{ brokenRegistro }

func (inSpanish) PorRUC(context.Context, string) (mockserver.Contribuyente, bool, error) {
	return mockserver.Contribuyente{}, false, fmt.Errorf("disco interno /dev/sda: %w", reason{errors.New("/dev/sdb")})
}

type reason struct{ error }

func (reason) Spanish() string { return "el disco está lleno" }

func TestAFailingRegistroMayTellTheReason(t *testing.T) {
	_, api := start(t, mockserver.WithRegistro(inSpanish{}))
	r := api.get("/api/contribuyentes/20131312955")
	r.isError(t, 500, "MOCK_REGISTRY_FAILURE")
	assert.Contains(t, r.body, "no responde: el disco está lleno")
	assert.NotContains(t, r.body, "/dev/sd")
}

// What a search found is copied while nobody writes: each is a whole record.
func TestSearchWhileTaxpayersAreReplaced(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	put := func(estado string) {
		for i := range 20 {
			assert.NoError(t, registro.Put(mockserver.Contribuyente{RUC: fmt.Sprintf("200000000%02d", i), RazonSocial: "IGUAL " + estado, Estado: estado}))
		}
	}
	put("ACTIVO")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			put("BAJA DEFINITIVA")
			put("ACTIVO")
		}
	})
	wg.Go(func() {
		for range 200 {
			found, err := registro.Buscar(t.Context(), "igual", 50)
			assert.NoError(t, err)
			for _, c := range found {
				assert.Equal(t, "IGUAL "+c.Estado, c.RazonSocial)
			}
		}
	})
	wg.Wait()
}
