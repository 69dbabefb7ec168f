package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestContribuyentes(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("contribuyentes"))
	page.row("20131312955", "ACTIVO", "HABIDO")
	page.fill("searchbox", exactly("Buscar por RUC o nombre"), "ficticia")
	page.noRow("20131312955")
	page.row("10000000006", "PERSONA FICTICIA UNO DE PRUEBA")
	page.fill("searchbox", exactly("Buscar por RUC o nombre"), "2013131")
	page.row("20131312955")
	page.noRow("10000000006")

	page.click("button", exactly("Editar: 20131312955"))
	page.is("textbox", exactly("RUC"), "value", "20131312955")
	page.fill("textbox", exactly("razonSocial"), "NOMBRE NUEVO S.A.C.")
	page.fill("combobox", exactly("estado"), "BAJA DEFINITIVA")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("20131312955", "NOMBRE NUEVO S.A.C.", "BAJA DEFINITIVA")
	assert.Contains(t, srv.lookup("20131312955").body, "NOMBRE NUEVO S.A.C.")

	page.click("button", exactly("Agregar un contribuyente"))
	page.fill("textbox", exactly("RUC"), "20600000005")
	page.fill("textbox", exactly("razonSocial"), "INVERSIONES DE PRUEBA")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.fill("searchbox", exactly("Buscar por RUC o nombre"), "20600000005")
	page.row("20600000005", "INVERSIONES DE PRUEBA")
	assert.Equal(t, http.StatusOK, srv.lookup("20600000005").status)
	page.click("button", exactly("Borrar: 20600000005"))
	page.noRow("20600000005")
	assert.Equal(t, http.StatusNotFound, srv.lookup("20600000005").status)
}

// Two clicks from the calls add a taxpayer NO HABIDO, whose RUC nobody has and is valid; it is shown, to be changed.
func TestANoHabidoInTwoClicks(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	page.click("link", exactly("Contribuyentes"))
	page.click("button", exactly("Agregar uno NO HABIDO"))
	page.row("20999980008", "CONTRIBUYENTE DE PRUEBA", "ACTIVO", "NO HABIDO")
	page.find("button", exactly("Editar: 20999980008"))
	assert.Contains(t, srv.lookup("20999980008").body, `"condicion":"NO HABIDO"`)
	page.click("button", exactly("Agregar uno NO HABIDO"))
	page.row("20999980016", "NO HABIDO")
}
