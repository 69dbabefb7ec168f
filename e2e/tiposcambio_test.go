package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A month as a chart, and as a calendar that says of each day without a rate why it has none.
func TestTiposDeCambio(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-07-29T12:00:00-05:00", "-frozen") // a holiday after a holiday
	page := open(t, srv.page("tipocambio"))
	page.find("image", like(`2026-07.*Venta de 3\.\d+ a 3\.\d+ soles`))
	page.find("table", exactly("Tipo de cambio, 2026-07"))
	page.find("button", like(`\bmiércoles, 1 de julio de 2026: compra 3\.782, venta 3\.792$`))
	page.find("button", like(`sábado, 4 de julio de 2026: es sábado`))
	page.find("button", like(`\bdomingo, 5 de julio de 2026: es domingo`))
	page.find("button", like(`\bmartes, 28 de julio de 2026: .*Fiestas Patrias`))
	page.find("button", like(`\bviernes, 31 de julio de 2026: .*futura`))

	page.click("button", like(`\bmiércoles, 8 de julio`))
	page.find("heading", exactly("miércoles, 8 de julio de 2026"))
	page.fill("textbox", exactly("compra"), "3.700")
	page.fill("textbox", exactly("venta"), "3.7105")
	page.click("button", exactly("Poner el tipo de cambio"))
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: compra 3\.700, venta 3\.7105$`))
	assert.Contains(t, srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-07-08", "").body, "3.7105")
	page.click("button", exactly("Borrar el de este día"))
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: [^c]`))
	assert.Equal(t, http.StatusNotFound, srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-07-08", "").status)
	page.click("button", exactly("Volver al de la serie"))
	page.find("button", like(`\bmiércoles, 8 de julio de 2026: compra 3\.789, venta 3\.799$`))

	page.click("button", exactly("Mes anterior"))
	page.find("table", exactly("Tipo de cambio, 2026-06"))
	page.click("button", exactly("Mes siguiente"))
	page.click("button", exactly("Mes siguiente"))
	page.find("table", exactly("Tipo de cambio, 2026-08"))
	page.sees("Ningún día de este mes tiene tipo de cambio.")
}

// Before 17:00 today has none yet, and after it has one: by the clock of the program.
func TestTheRateOfTodayComesAtFive(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T16:59:00-05:00", "-frozen")
	page := open(t, srv.page("tipocambio"))
	page.find("button", like(`\bviernes, 20 de noviembre de 2026: todavía`))
	srv.admin(http.MethodPost, "clock/advance", `{"by": "1m"}`)
	page.find("button", like(`\bviernes, 20 de noviembre de 2026: compra`))
}
