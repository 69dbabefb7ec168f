package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// quota is one item of GET quotas.
type quota struct {
	Key                    string
	Limit, Used, Remaining int
}

// A key's day is spent, filled and changed; a key is written, and shown as its fingerprint alone.
func TestQuotas(t *testing.T) {
	t.Parallel()
	const key = "otra-clave-que-nadie-ve"
	srv := start(t, "-now", "2026-11-20T16:59:00-05:00", "-frozen", "-quota", "40")
	page := open(t, srv.page("cuotas"))
	page.is("progressbar", exactly("usadas 0 de 40"), "value", "0")
	page.sees("0 / 40 quedan 40", "Se renueva en 7 h 01 min (", "00:00)")
	own := read[[]quota](srv, "quotas")[0].Key
	page.click("button", exactly("Dejar 1 consulta: "+own))
	page.find("progressbar", exactly("usadas 39 de 40"))
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	assert.Equal(t, http.StatusTooManyRequests, srv.lookup("20131312955").status, "the second one")
	page.click("button", exactly("Recargar cuota: "+own))
	page.fill("spinbutton", exactly("Consultas por día"), "7")
	page.click("button", exactly("Cambiar"))
	page.find("progressbar", exactly("usadas 0 de 7"))

	page.fill("textbox", exactly("Clave de API No se vuelve a mostrar."), key)
	page.fill("spinbutton", like("^Consultas por día .*1 es sin límite"), "5")
	page.click("button", exactly("Agregar"))
	page.find("progressbar", exactly("usadas 0 de 5"))
	other := read[[]quota](srv, "quotas")[1].Key
	assert.Regexp(t, `^k_[0-9a-f]{8}$`, other)
	assert.NotContains(t, page.markup(), key)
	page.click("button", exactly("Borrar la clave de API: "+other))
	page.gone("progressbar", exactly("usadas 0 de 5"))
	assert.Equal(t, http.StatusUnauthorized, srv.send(http.MethodGet, "/api/contribuyentes/20131312955", "", "X-API-KEY", key).status)

	page.click("link", exactly("Ver qué la gastó: "+own))
	page.row("#1", "20131312955")
	assert.Len(t, page.rows(), 2, "and the head: what was refused cost nothing")
}
