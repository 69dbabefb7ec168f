package mockserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

const registryText = "RUC|NOMBRE O RAZÓN SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICIÓN DE DOMICILIO|UBIGEO|TIPO DE VÍA|NOMBRE DE VÍA|CÓDIGO DE ZONA|TIPO DE ZONA|NÚMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KILÓMETRO|\n" +
	"20999990011|ÑANDÚ S.A.|ACTIVO|HABIDO|150101|AV.|AREQUIPA|-|-|123|-|-|-|-|-|\n" +
	"20999990029|ÑANDÚ SIN ESTADO|||-|-|-|-|-|-|-|-|-|-|-|\n"

func TestWithPadron(t *testing.T) {
	file := filepath.Join(t.TempDir(), "padron.txt")
	require.NoError(t, os.WriteFile(file, []byte(registryText), 0o600))
	_, err := padron.Import(t.Context(), file, file+".idx", padron.ImportOptions{})
	require.NoError(t, err)
	index, err := padron.Follow(file + ".idx")
	require.NoError(t, err)
	defer func() { assert.NoError(t, index.Close()) }()
	srv, api := start(t, mockserver.WithPadron(index))
	assert.JSONEq(t, `{"ruc": "20999990011", "razonSocial": "ÑANDÚ S.A.", "estado": "ACTIVO", "condicion": "HABIDO",
		"direccion": "AV. AREQUIPA NRO. 123 LIMA - LIMA - LIMA", "ubigeo": "150101", "departamento": "LIMA", "provincia": "LIMA", "distrito": "LIMA",
		"tipo": "-", "actividadEconomica": "-", "fechaInscripcion": "-", "fechaInicioActividades": "-"}`, api.get("/api/contribuyentes/20999990011").body)
	assert.JSONEq(t, `[{"ruc": "20999990011", "razonSocial": "ÑANDÚ S.A.", "estado": "ACTIVO", "condicion": "HABIDO"},
		{"ruc": "20999990029", "razonSocial": "ÑANDÚ SIN ESTADO", "estado": "-", "condicion": "-"}]`, api.get("/api/contribuyentes/search?razonSocial=nandu").body)
	c, err := srv.Client().Contribuyentes.Consultar(t.Context(), "20999990029")
	require.NoError(t, err)
	assert.Equal(t, fiscope.Contribuyente{RUC: "20999990029", RazonSocial: "ÑANDÚ SIN ESTADO", Estado: "-", Condicion: "-", Ubigeo: "-", Tipo: "-", ActividadEconomica: "-"}, *c, "nothing is made up")
	assert.Equal(t, 404, api.get("/api/contribuyentes/20131312955").status)

	require.NoError(t, index.Close())
	for _, path := range []string{"20999990011", "search?razonSocial=nandu"} {
		r := api.get("/api/contribuyentes/" + path)
		r.isError(t, 500, "MOCK_REGISTRY_FAILURE")
		assert.Contains(t, r.body, "el índice del padrón está cerrado")
		assert.NotContains(t, r.body, file)
	}
}

func TestWithPadronOfNothing(t *testing.T) {
	_, err := mockserver.Start(mockserver.WithPadron(nil))
	require.ErrorContains(t, err, "WithPadron: el índice es nil")
}
