package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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

// shared is a Registro that gives every search the same slice.
type shared struct {
	mockserver.RegistroEnMemoria
	found []mockserver.Contribuyente
}

func (s *shared) Buscar(context.Context, string, int) ([]mockserver.Contribuyente, error) {
	return s.found, nil
}

func TestSearchWritesNotIntoWhatTheRegistroReturns(t *testing.T) {
	registro := &shared{found: []mockserver.Contribuyente{
		{RUC: "20000000001", RazonSocial: "GLORIA UNO"}, {RUC: "20000000002", RazonSocial: "GLORIA DOS"}, {RUC: "20000000003", RazonSocial: "GLORIA TRES"},
	}}
	srv, api := start(t, mockserver.WithRegistro(registro))
	require.NoError(t, srv.DeleteContribuyente("20000000001"))
	for range 3 {
		assert.Equal(t, []string{"20000000002", "20000000003"}, rucs(api.get("/api/contribuyentes/search?razonSocial=gloria").body))
	}
	assert.Equal(t, "20000000001", registro.found[0].RUC)
}

// Each answer is that of one moment: what is there before a change and after it is there, once, and what lay
// under a record that was put is never seen.
func TestAnswersWhileTaxpayersAreWritten(t *testing.T) {
	c := func(ruc, razonSocial string) mockserver.Contribuyente {
		return mockserver.Contribuyente{RUC: ruc, RazonSocial: razonSocial, Estado: "ACTIVO"}
	}
	const kept, passing = "20000000001", "20000000002"
	var registro mockserver.RegistroEnMemoria
	require.NoError(t, registro.Put(c(kept, "GLORIA DEL REGISTRO"), c(passing, "DEBAJO")))
	srv := mockserver.New(t, mockserver.WithRegistro(&registro), mockserver.WithQuota(mockserver.Unlimited))
	require.NoError(t, srv.DeleteContribuyente(passing))
	done := make(chan struct{})
	var writers, readers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			for n := range 300 {
				assert.NoError(t, srv.PutContribuyente(c(kept, fmt.Sprint("GLORIA PUESTA ", n))))
				assert.NoError(t, srv.PutContribuyente(c(passing, "ENCIMA"), c(fmt.Sprintf("2000000%d%03d", i+1, n), "GLORIA NUEVA")))
				assert.NoError(t, srv.PutData(mockserver.Data{
					Contribuyentes: []mockserver.Contribuyente{c(kept, "GLORIA OTRA VEZ")},
					Deleted:        mockserver.Deleted{Contribuyentes: []string{kept, passing, fmt.Sprintf("2000000%d%03d", i+1, n)}},
				}))
			}
		})
	}
	for range 4 {
		api := plain(t, srv)
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				found := api.get("/api/contribuyentes/search?razonSocial=gloria&limit=50").body
				assert.Equal(t, 1, strings.Count(found, kept), found)
				assert.Equal(t, strings.Count(found, `"ruc"`), strings.Count(found, "GLORIA"), found)
				assert.Equal(t, 200, api.get("/api/contribuyentes/"+kept).status)
				assert.NotContains(t, api.get("/api/contribuyentes/"+passing).body, "DEBAJO")
				assert.Equal(t, "[]\n", api.get("/api/contribuyentes/search?razonSocial=debajo").body)
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

func TestSearchOfALimitThatIsNone(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "GLORIA"}))
	for limite, want := range map[int]int{math.MinInt: 0, -1: 0, 0: 0, 1: 1, math.MaxInt: 1} {
		found, err := registro.Buscar(t.Context(), "gloria", limite)
		require.NoError(t, err)
		assert.Len(t, found, want, limite)
	}
}

// The best are the same whatever is put first, and however many there are beside them.
func TestSearchKeepsTheBest(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	for i := range 500 {
		ruc := fmt.Sprintf("200000%05d", (i*187)%500) // each once, in no order
		require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: ruc, RazonSocial: "GLORIA"}))
	}
	for _, limite := range []int{1, 2, 50, 250, 499, 500, 501} {
		found, err := registro.Buscar(t.Context(), "gloria", limite)
		require.NoError(t, err)
		require.Len(t, found, min(limite, 500))
		for i, c := range found {
			require.Equal(t, fmt.Sprintf("200000%05d", i), c.RUC, limite)
		}
	}
}
