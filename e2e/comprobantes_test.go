package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestComprobantes(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("comprobantes"))
	page.row("20100070970", "01 Factura", "F001-123", "0 Aceptado")
	page.fill("searchbox", exactly("RUC del emisor"), "20131312955")
	page.noRow("20100070970")
	page.fill("searchbox", exactly("RUC del emisor"), "")
	page.row("F001-123")

	page.click("button", exactly("Editar: 20100070970-01-F001-123"))
	page.choose(exactly("codigo"), "2 Anulado")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("F001-123", "2 Anulado")
	assert.Contains(t, srv.validate("MIUSER01", "clave-mock-1").body, "Anulado")

	const later = "comprobantes/20100070970/01/F001/7"
	srv.admin(http.MethodPut, later, `{"codigo": "4", "luego": [{"codigo": "0", "tras": "2m"}]}`)
	page.click("button", exactly("Editar: 20100070970-01-F001-7"))
	page.choose(exactly("codigo"), "98 No Existe")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("F001-7", "98 No Existe")
	assert.Contains(t, srv.admin(http.MethodGet, "comprobantes?ruc=20100070970", ""), `"tras": "2m0s"`, "what it becomes later stays")

	page.click("button", exactly("Agregar un comprobante"))
	page.fill("textbox", exactly("rucEmisor"), "20600000005")
	page.choose(exactly("tipoComprobante"), "03 Boleta")
	page.fill("textbox", exactly("serie"), "B777")
	page.fill("spinbutton", exactly("numero"), "9")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("20600000005", "03 Boleta", "B777-9", "0 Aceptado")
	page.click("button", exactly("Borrar: 20600000005-03-B777-9"))
	page.noRow("B777-9")

	page.click("button", exactly("Borrar: 20100070970-01-F001-123"))
	page.noRow("F001-123")
	got := srv.validate("MIUSER01", "clave-mock-1")
	assert.Equal(t, http.StatusOK, got.status)
	assert.Contains(t, got.body, "No Existe")
}
