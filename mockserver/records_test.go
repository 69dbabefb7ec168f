package mockserver_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

func TestSearchOfALimitThatIsNoneAmongMany(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	for i := range 9 {
		require.NoError(t, registro.Put(mockserver.Empresa(fmt.Sprintf("2000000000%d", i))))
	}
	for limite, want := range map[int]int{math.MinInt: 0, -2: 0, -1: 0, 0: 0, 1: 1, 8: 8, 100: 9} {
		found, err := registro.Buscar(t.Context(), "empresa", limite)
		require.NoError(t, err)
		assert.Len(t, found, want, limite)
	}
}

// A taxpayer without an estado is answered as active, and is found as one: before those that are not.
func TestSearchRanksAnEmptyEstadoAsActive(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	require.NoError(t, registro.Put(
		mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "GLORIA", Estado: "BAJA DEFINITIVA"},
		mockserver.Contribuyente{RUC: "20000000002", RazonSocial: "GLORIA"}))
	found, err := registro.Buscar(t.Context(), "gloria", 5)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, "20000000002", found[0].RUC)
}
