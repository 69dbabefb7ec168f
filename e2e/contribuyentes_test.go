package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Taxpayers are searched, changed, added and deleted; the list shows what is served of each.
func TestContribuyentes(t *testing.T) {
	t.Parallel()
	srv := start(t)
	search := exactly("Buscar por RUC o nombre")
	page := open(t, srv.page("contribuyentes"))
	page.fill("searchbox", search, "2013131")
	page.noRow("10000000006")
	page.click("button", exactly("Editar: 20131312955"))
	page.fill("textbox", exactly("razonSocial"), "NOMBRE NUEVO S.A.C.")
	page.fill("combobox", exactly("estado"), "BAJA DEFINITIVA")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("20131312955", "NOMBRE NUEVO S.A.C.", "BAJA DEFINITIVA")
	assert.Contains(t, srv.lookup("20131312955").body, "NOMBRE NUEVO S.A.C.")

	page.fill("searchbox", search, "20600000021")
	page.sees("Ningún contribuyente tiene «20600000021».")
	page.click("button", exactly("Agregar un contribuyente"))
	page.fill("textbox", exactly("razonSocial"), "INVERSIONES DE PRUEBA")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("20600000021", "INVERSIONES DE PRUEBA", "ACTIVO", "HABIDO")
	assert.Equal(t, 2, js[int](page, `document.querySelectorAll('tbody .hint').length`), "the defaults are in grey")
	page.click("button", exactly("Borrar: 20600000021"))
	page.noRow("20600000021")
	assert.Equal(t, http.StatusNotFound, srv.lookup("20600000021").status)

	page.fill("searchbox", search, "nadie se llama así")
	page.click("button", exactly("Mostrar todo"))
	page.click("button", exactly("Agregar uno NO HABIDO")) // with a RUC that nobody has, and valid
	page.row("20999980008", "CONTRIBUYENTE DE PRUEBA", "ACTIVO", "NO HABIDO")
}
