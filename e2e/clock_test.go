package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheClock(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T09:15:00-05:00", "-frozen")
	page := open(t, srv.page("reloj"))
	shows := func(texts ...string) {
		t.Helper()
		page.sees(texts...)
	}
	says := func() string {
		return read[struct{ Now string }](srv, "clock").Now
	}
	shows("09:15:00 viernes, 20 de noviembre de 2026", "El reloj está congelado.")
	page.click("button", exactly("16:59"))
	shows("16:59:00 viernes, 20 de noviembre")
	assert.Equal(t, "2026-11-20T16:59:00-05:00", says())
	page.click("button", exactly("+1 h"))
	shows("17:59:00")
	page.click("button", exactly("+1 día"))
	shows("17:59:00 sábado, 21 de noviembre")
	assert.Equal(t, "2026-11-21T17:59:00-05:00", says())
	page.fill("DateTime", exactly("Fecha y hora en Lima"), "2026-12-31T23:59:59")
	page.click("button", exactly("Poner esta hora"))
	shows("23:59:59 jueves, 31 de diciembre de 2026")
	assert.Equal(t, "2026-12-31T23:59:59-05:00", says())

	page.click("button", exactly("Reanudar"))
	shows("El reloj avanza.", "viernes, 1 de enero de 2027")
	page.click("button", exactly("Congelar"))
	shows("El reloj está congelado.")
	first := says()
	<-time.After(2 * time.Millisecond)
	assert.Equal(t, first, says())
	page.click("button", exactly("Restablecer el reloj"))
	shows("09:15:00 viernes, 20 de noviembre")
	page.find("link", like("09:15:00 congelado$")) // of every view
}
