package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Receipts are searched by their issuer, changed, added and deleted; what one becomes later stays.
func TestComprobantes(t *testing.T) {
	t.Parallel()
	srv := start(t)
	srv.admin(http.MethodPut, "comprobantes/20100070970/01/F001/7", `{"codigo": "4", "luego": [{"codigo": "0", "tras": "2m"}]}`)
	page := open(t, srv.page("comprobantes"))
	page.row("20100070970", "01 Factura", "F001-123", "0 Aceptado")
	page.fill("searchbox", exactly("RUC del emisor"), "20331898008")
	page.noRow("20100070970")
	page.fill("searchbox", exactly("RUC del emisor"), "")

	page.click("button", exactly("Editar: 20100070970-01-F001-7"))
	page.choose(exactly("codigo"), "2 Anulado")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("F001-7", "2 Anulado")
	assert.Contains(t, srv.admin(http.MethodGet, "comprobantes?ruc=20100070970", ""), `"tras": "2m0s"`)

	page.click("button", exactly("Agregar un comprobante"))
	page.fill("textbox", exactly("rucEmisor"), "20600000005")
	page.choose(exactly("tipoComprobante"), "03 Boleta")
	page.fill("textbox", exactly("serie"), "B777")
	page.fill("spinbutton", exactly("numero"), "1e3")
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	page.row("20600000005", "03 Boleta", "B777-1000", "0 Aceptado")
	page.click("button", exactly("Borrar: 20600000005-03-B777-1000"))
	page.noRow("B777-1000")
}
