package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A month as a chart and a calendar, which says why a day has no rate; a rate is set, deleted, restored, or set ahead.
func TestTiposDeCambio(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-07-29T12:00:00-05:00", "-frozen") // a holiday after a holiday
	page := open(t, srv.page("tipocambio"))
	page.find("image", like(`2026-07.*Venta de 3\.\d+ a 3\.\d+ soles`))
	page.find("button", like(`sábado, 4 de julio de 2026: es sábado`))
	page.find("button", like(`\bmartes, 28 de julio de 2026: .*Fiestas Patrias`))

	set := func(compra, venta string) {
		page.fill("textbox", exactly("compra"), compra)
		page.fill("textbox", exactly("venta"), venta)
		page.click("button", exactly("Poner el tipo de cambio"))
	}
	page.click("button", like(`\bmiércoles, 8 de julio`))
	set("3.700", "3.7105")
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: compra 3\.700, venta 3\.7105$`))
	page.click("button", exactly("Borrar el de este día"))
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: [^c]`))
	assert.Equal(t, http.StatusNotFound, srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-07-08", "").status)
	page.click("button", exactly("Volver al de la serie"))
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: compra 3\.789, venta 3\.799$`))

	page.click("button", exactly("Mes siguiente"))
	page.click("button", like(`\blunes, 3 de agosto de 2026: es una fecha futura`))
	set("3.9", "3.91")
	page.find("button", like(`\blunes, 3 de agosto de 2026: compra 3\.900, venta 3\.910; es una fecha futura`))
	page.sees("Compra 3.900, venta 3.910. Todavía no se responde: es una fecha futura")
	page.click("button", exactly("Ir a ese día, 17:00"))
	page.find("button", like(`\blunes, 3 de agosto de 2026: compra 3\.900, venta 3\.910$`))
	assert.Contains(t, srv.call(http.MethodGet, "/api/tipocambio", "").body, `"venta":3.91,`)
	page.gone("button", exactly("Ir a ese día, 17:00"))

	page = open(t, srv.page("tipocambio/2026-08-03"), english)
	page.expect(`answer 400.*tiposcambio|status of 400`)
	page.fill("textbox", exactly("compra"), "4")
	page.click("button", exactly("Set the rate"))
	page.sees("the server does not take it: rate of 2026-08-03: compra 4 is greater than venta 3.910: correct it")
}
