package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Faults by the form and by presets: which calls they meet, how often, and their end.
func TestFaults(t *testing.T) {
	t.Parallel()
	const friday, thursday = "/api/tipocambio?fecha=2026-11-13", "/api/tipocambio?fecha=2026-11-12"
	srv := start(t, frozen...)
	page := open(t, srv.page("fallas"))
	page.sees("No hay ninguna.", "un 503 con Retry-After: 1, que el SDK reintenta")
	page.is("spinbutton", exactly("Veces"), "value", "1")
	page.choose(exactly("Operación"), "tipocambio")
	page.fill("textbox", exactly("Solo esta consulta"), "2026-11-13")
	page.fill("spinbutton", exactly("Veces"), "2")
	page.fill("spinbutton", exactly("HTTP"), "502")
	page.fill("textbox", exactly("Retry-After"), "7")
	page.fill("spinbutton", exactly("Latencia (s)"), "0.001")
	page.click("button", exactly("Poner la falla"))
	page.sees("Falla puesta: fault-1")
	page.row("fault-1", "502, Retry-After: 7, latencia de 1ms", "tipocambio, consulta 2026-11-13, 2 veces", "activa")
	page.is("spinbutton", exactly("Veces"), "value", "1")
	page.find("link", exactly("1 falla activa"))
	assert.Equal(t, http.StatusOK, srv.call(http.MethodGet, thursday, "").status)
	assert.Equal(t, http.StatusBadGateway, srv.call(http.MethodGet, friday, "").status)
	assert.Equal(t, http.StatusBadGateway, srv.call(http.MethodGet, friday, "").status)
	assert.Equal(t, http.StatusOK, srv.call(http.MethodGet, friday, "").status)
	assert.Regexp(t, `2 veces\t2\t2\tterminada`, page.row("fault-1", "terminada"), "seen, hits")
	page.click("button", exactly("Borrar: fault-1"))
	page.noRow("fault-1")

	page.navigate(srv.page("fallas?op=consultar&ruc=20100070970&text=&times=1"))
	page.fill("searchbox", exactly("Buscar una falla"), "503")
	page.gone("heading", exactly("La conexión"))
	page.click("button", exactly("outage-503"))
	page.row("outage-503-2", "consultar, RUC 20100070970, una vez", "activa")
	assert.Equal(t, http.StatusServiceUnavailable, srv.lookup("20100070970").status)
	page.row("outage-503-2", "terminada")
	page.click("button", exactly("Borrar todas las fallas"))
	page.sees("No hay ninguna.")

	srv.admin(http.MethodPost, "faults", `{"name": "espera", "match": {"times": 1}, "steps": [{"hold": true}]}`)
	status := make(chan int, 1)
	go func() { status <- srv.lookup("20131312955").status }()
	page.row("espera", "1\t1\t")
	page.click("button", exactly("Liberar: espera"))
	assert.Equal(t, http.StatusOK, <-status)

	page.click("switch", exactly("SUNAT caída"))
	page.is("switch", exactly("SUNAT caída"), "checked", "true")
	page.find("link", exactly("SUNAT caída"))
	assert.Equal(t, http.StatusInternalServerError, srv.validate("MIUSER01", "clave-mock-1").status)
}

// A call makes the next one of its kind fail as it did, and adds what it missed.
func TestWhatACallOffers(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	failed := srv.lookup("99999999999")
	page.click("button", like("^consultar 99999999999, 404"))
	page.click("button", exactly("Agregar un contribuyente"))
	page.press("\r")
	page.gone("dialog", like(""))
	page.click("button", exactly("Que la próxima falle así"))
	page.sees("Falla puesta: fault-1")
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	assert.Equal(t, failed, srv.lookup("99999999999"))
	assert.Equal(t, http.StatusOK, srv.lookup("99999999999").status)
}
