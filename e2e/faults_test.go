package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("fallas"))
	page.sees("No hay ninguna.")
	page.choose(exactly("Operación"), "consultar")
	page.fill("spinbutton", exactly("Veces"), "1")
	page.click("button", exactly("outage-503"))
	page.row("outage-503-1", "consultar, una vez", "activa")
	page.find("link", exactly("1 falla activa"))
	srv.validate("MIUSER01", "clave-mock-1")
	assert.Equal(t, http.StatusServiceUnavailable, srv.lookup("20131312955").status)
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	row := page.row("outage-503-1", "terminada")
	assert.Regexp(t, `una vez\t1\t1\tterminada`, row, "seen, hits")
	page.gone("link", like("falla"))
	page.click("button", exactly("Borrar: outage-503-1"))
	page.noRow("outage-503")

	page.choose(exactly("Operación"), "Todas")
	page.fill("spinbutton", exactly("Veces"), "")
	page.click("button", exactly("firewall-403"))
	page.row("firewall-403", "activa")
	page.click("button", exactly("ambiguous-401"))
	page.row("ambiguous-401", "activa")
	page.find("link", exactly("2 fallas activas"))
	page.click("button", exactly("Borrar todas las fallas"))
	page.sees("No hay ninguna.")
	assert.Empty(t, read[[]any](srv, "faults"))
}

// What is held is seen as under way, and let go by a button.
func TestAHeldCallIsReleased(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("fallas"))
	srv.admin(http.MethodPost, "faults", `{"name": "espera", "match": {"times": 1}, "steps": [{"hold": true}]}`)
	status := make(chan int, 1)
	go func() { status <- srv.lookup("20131312955").status }()
	assert.Regexp(t, `una vez\t1\t1\t`, page.row("espera"))
	page.click("link", exactly("Llamadas"))
	page.row("consultar", "en curso", "espera")
	page.click("link", exactly("Fallas"))
	page.click("button", exactly("Liberar: espera"))
	assert.Equal(t, http.StatusOK, <-status)
	page.click("link", exactly("Llamadas"))
	page.row("consultar", "200", "espera")
}

func TestSUNATDown(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("fallas"))
	page.is("switch", exactly("SUNAT caída"), "checked", "false")
	page.click("switch", exactly("SUNAT caída"))
	page.is("switch", exactly("SUNAT caída"), "checked", "true")
	page.find("link", exactly("SUNAT caída"))
	assert.Equal(t, http.StatusInternalServerError, srv.validate("MIUSER01", "clave-mock-1").status)
	page.click("switch", exactly("SUNAT caída"))
	page.is("switch", exactly("SUNAT caída"), "checked", "false")
	assert.Equal(t, http.StatusOK, srv.validate("MIUSER01", "clave-mock-1").status)
}
