package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The clock is moved, set, let run, frozen and put back; every view shows it.
func TestTheClock(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T09:15:00-05:00", "-frozen")
	page := open(t, srv.page("reloj"))
	page.sees("09:15:00 viernes, 20 de noviembre de 2026", "El reloj está congelado.")
	for _, press := range [][2]string{{"16:59", "16:59:00 viernes, 20 de noviembre"}, {"+1 h", "17:59:00 viernes"}, {"+1 día", "17:59:00 sábado, 21 de noviembre"}} {
		page.click("button", exactly(press[0]))
		page.sees(press[1])
	}
	page.fill("DateTime", exactly("Fecha y hora en Lima"), "2026-12-31T23:59:59")
	page.click("button", exactly("Poner esta hora"))
	page.sees("23:59:59 jueves, 31 de diciembre de 2026")
	assert.Equal(t, "2026-12-31T23:59:59-05:00", read[struct{ Now string }](srv, "clock").Now)
	page.click("button", exactly("Reanudar"))
	page.sees("El reloj avanza.", "viernes, 1 de enero de 2027")
	page.click("button", exactly("Restablecer el reloj"))
	page.sees("09:15:00 viernes, 20 de noviembre")
	page.find("link", like("09:15:00 congelado$"))
}
