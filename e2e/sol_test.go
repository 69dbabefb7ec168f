package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A user is blocked and unblocked, its clave is changed, another one comes and goes; no clave is in the document.
func TestUsuariosSOL(t *testing.T) {
	t.Parallel()
	srv := start(t, "-now", "2026-11-20T16:59:00-05:00", "-frozen")
	page := open(t, srv.page("sol"))
	assert.Regexp(t, `secundario\t0\t0\tlibre`, page.row("MIUSER01"))
	for range 3 {
		srv.validate("MIUSER01", "incorrecta")
	}
	assert.Regexp(t, `secundario\t3\t3\t`, page.row("MIUSER01", "bloqueado hasta 17:29", "30 min"))
	page.click("button", exactly("Desbloquear: MIUSER01"))
	page.row("MIUSER01", "libre")
	page.settled()
	for _, clave := range []string{"nueva-clave-77", ""} { // nothing written: it keeps the clave
		page.click("button", exactly("Editar: MIUSER01"))
		page.is("textbox", like("^Clave SOL nueva"), "value", "")
		page.fill("textbox", like("^Clave SOL nueva"), clave)
		page.click("button", exactly("Guardar"))
		page.gone("dialog", like(""))
	}
	assert.Equal(t, http.StatusOK, srv.validate("MIUSER01", "nueva-clave-77").status)
	page.fill("textbox", exactly("RUC"), "20131312955")
	page.fill("textbox", exactly("Usuario"), "OTRO0002")
	page.fill("textbox", exactly("Clave SOL No se vuelve a mostrar."), "secreta-del-otro")
	page.click("button", exactly("Agregar"))
	page.row("OTRO0002", "secundario", "libre")
	for _, clave := range []string{"clave-mock-1", "nueva-clave-77", "secreta-del-otro"} {
		assert.NotContains(t, page.markup(), clave)
	}
	page.click("button", exactly("Borrar: OTRO0002"))
	page.noRow("OTRO0002")
}
