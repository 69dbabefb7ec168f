package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A fault of one's own: status, Retry-After, latency, times, and the calls it meets; the answer is seen at once.
func TestAFaultByForm(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page("fallas"))
	page.choose(exactly("Operación"), "consultar")
	page.fill("textbox", exactly("Solo este RUC"), "20100070970")
	page.fill("spinbutton", exactly("Veces"), "2")
	page.fill("spinbutton", exactly("HTTP"), "502")
	page.fill("textbox", exactly("Retry-After"), "7")
	page.fill("spinbutton", exactly("Latencia (s)"), "0.001")
	page.click("button", exactly("Poner la falla"))
	page.sees("Falla puesta: fault-1")
	page.row("fault-1", "502, Retry-After: 7, latencia de 1ms", "consultar, ruc 20100070970, 2 veces", "activa")
	page.is("spinbutton", exactly("Veces"), "value", "")
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	assert.Equal(t, http.StatusBadGateway, srv.lookup("20100070970").status)
	assert.Equal(t, http.StatusBadGateway, srv.lookup("20100070970").status)
	assert.Equal(t, http.StatusOK, srv.lookup("20100070970").status)

	srv.admin(http.MethodPost, "keys", `{"key": "equipo-de-pagos"}`)
	key := read[[]quota](srv, "quotas")[1].Key
	page.navigate(srv.page("fallas?op=tipocambio&key=" + key + "&times=1"))
	page.is("spinbutton", exactly("Veces"), "value", "1")
	page.fill("textbox", exactly("Solo este RUC"), "")
	page.click("button", exactly("Poner la falla"))
	page.row("tipocambio, key "+key+", una vez", "activa")
	const path = "/api/tipocambio?fecha=2026-11-19"
	assert.Equal(t, http.StatusOK, srv.call(http.MethodGet, path, "").status)
	assert.Equal(t, http.StatusBadGateway, srv.send(http.MethodGet, path, "", "X-API-KEY", "equipo-de-pagos").status)
}

// The presets stand in groups, are searched, and say beside themselves that they are set.
func TestThePresets(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page("fallas"))
	page.find("heading", exactly("La conexión"))
	assert.Equal(t, []string{"El estado HTTP", "La cuota", "SUNAT", "La conexión", "El cuerpo", "Los datos"}, js[[]string](page, `[...document.querySelectorAll('h4')].map((h4) => h4.innerText)`))
	assert.Equal(t, "outage-503", js[string](page, `document.querySelector('.presets button').innerText`), "what is usual comes first")
	page.sees("el SDK no lo reintenta, porque 120 s", "un 503 con Retry-After: 1, que el SDK reintenta")
	page.fill("searchbox", exactly("Buscar una falla"), "503")
	page.gone("heading", exactly("La conexión"))
	page.gone("button", exactly("reset"))
	page.click("button", exactly("503 ×2"))
	page.sees("Falla puesta: fault-1")
	page.within(patience, func() error {
		if marks := js[int](page, `document.querySelectorAll('.presets .mark:not([hidden])').length`); marks != 1 {
			return fmt.Errorf("%d presets are marked", marks)
		}
		return nil
	})
	assert.Equal(t, http.StatusServiceUnavailable, srv.lookup("20131312955").status)
	assert.Equal(t, http.StatusServiceUnavailable, srv.lookup("20131312955").status)
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	page.fill("searchbox", exactly("Buscar una falla"), "no hay tal")
	page.sees("Ninguna falla preparada tiene ese texto.")
	page.click("button", exactly("Mostrar todo"))
	page.find("button", exactly("reset"))
}

// A call makes the next one of its kind fail as it did, or leads to the form that does.
func TestTheNextCallFailsSo(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	failed := srv.lookup("99999999999")
	srv.admin(http.MethodPut, "contribuyentes/99999999999", `{"razonSocial": "DE PRUEBA"}`)
	page.click("button", like("^consultar 99999999999"))
	page.click("button", exactly("Que la próxima falle así"))
	page.sees("Falla puesta: fault-1")
	assert.Equal(t, http.StatusOK, srv.lookup("20131312955").status)
	assert.Equal(t, failed, srv.lookup("99999999999"))
	assert.Equal(t, http.StatusOK, srv.lookup("99999999999").status)
	page.navigate(srv.page("llamadas/2"))
	page.click("link", exactly("Que la próxima falle…"))
	page.is("textbox", exactly("Solo este RUC"), "value", "20131312955")
	page.click("button", exactly("reset-inside ×1"))
	page.row("reset-inside-2", "ruc 20131312955")
}

// A caller of what is not there is offered to add it.
func TestWhatIsMissedIsAdded(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.lookup("99999999999")
	page.click("button", like("^consultar 99999999999, 404"))
	page.click("button", exactly("Agregar un contribuyente"))
	page.is("textbox", exactly("RUC"), "value", "99999999999")
	page.press("\r")
	page.gone("dialog", like(""))
	assert.Equal(t, http.StatusOK, srv.lookup("99999999999").status)

	srv.admin(http.MethodDelete, "comprobantes/20100070970/01/F001/123", "")
	srv.validate("MIUSER01", "clave-mock-1")
	page.navigate(srv.page("llamadas/3"))
	page.click("button", exactly("Agregar un comprobante"))
	page.click("button", exactly("Guardar"))
	page.gone("dialog", like(""))
	assert.Contains(t, srv.validate("MIUSER01", "clave-mock-1").body, "Aceptado")

	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "")
	page.navigate(srv.page("llamadas/5"))
	page.click("link", exactly("Poner el tipo de cambio"))
	page.find("heading", exactly("viernes, 20 de noviembre de 2026"))
	page.fill("textbox", exactly("compra"), "3.700")
	page.fill("textbox", exactly("venta"), "3.710")
	page.click("button", exactly("Poner el tipo de cambio"))
	page.sees("puesto a mano")
}
