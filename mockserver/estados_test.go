package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
)

func TestEstadosOfTheRegistry(t *testing.T) {
	assume := mockserver.DefaultAssumptions()
	assume.Estados = mockserver.EstadosSUNAT
	_, api := start(t, mockserver.WithAssumptions(assume), mockserver.WithContribuyentes(
		mockserver.Contribuyente{RUC: "20000000001", Estado: "SUSPENSIÓN TEMPORAL"},
		mockserver.Contribuyente{RUC: "20000000002", Estado: "BAJA PROV. POR OFICIO"},
	))
	assert.Contains(t, api.get("/api/contribuyentes/20000000001").body, `"estado":"SUSPENSION TEMPORAL"`)
	assert.Contains(t, api.get("/api/contribuyentes/20000000002").body, `"estado":"BAJA PROV. POR OFICI"`)
	_, table := start(t, mockserver.WithContribuyentes(
		mockserver.Contribuyente{RUC: "20000000001", Estado: "SUSPENSION TEMPORAL"},
		mockserver.Contribuyente{RUC: "20000000002", Estado: "BAJA DE OFICIO"},
	))
	assert.Contains(t, table.get("/api/contribuyentes/20000000001").body, `"estado":"SUSPENSIÓN TEMPORAL"`)
	assert.Contains(t, table.get("/api/contribuyentes/20000000002").body, `"estado":"BAJA DE OFICIO"`)
}
