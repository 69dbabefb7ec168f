package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An opened call says why it ended so and shows both sides without secrets; what is copied of it makes it again.
func TestACall(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	srv.lookup("20131312955")
	srv.call(http.MethodGet, "/api/contribuyentes/search?razonSocial=O%27Higgins+%26+%22Hijos%22+%24HOME+%60id%60&limit=3", "")
	srv.validate("MIUSER01", "clave-mock-1")
	srv.fault(`"op": "consultar", "times": 1`, `"preset": "outage-503"`)
	srv.lookup("20100070970")

	page := open(t, srv.page("llamadas/4?op=consultar&texto=20100070970")) // the address says all
	page.find("heading", like("^Llamada #4 "))
	page.row("20100070970")
	page.noRow("20131312955")
	page.sees("Retry-After: 120", "La falla outage-503-1 actuó", "User-Agent: Go-http-client/1.1", "X-API-KEY: k_")
	assert.Equal(t, srv.url+"/_mock/#llamadas/4?op=consultar&texto=20100070970", page.copied(exactly("Copiar enlace")))
	page.press("?")
	page.sees("Teclas", "copiarla como curl")
	page.press(kb.Escape)
	page.gone("dialog", exactly("Teclas"))
	page.click("button", exactly("Cerrar"))
	page.gone("heading", like("^Llamada #"))
	js[bool](page, `history.back() ?? true`)
	page.find("heading", like("^Llamada #4 "))

	page.navigate(srv.page("llamadas/3"))
	page.sees(`"claveSol": "***"`, `"estado": "Aceptado"`, "Credenciales correctas; el comprobante es válido: Aceptado.", "Costó 1 consulta; quedaron 997.")
	ticket := page.copied(exactly("Copiar Markdown"))
	for _, part := range []string{"### Llamada #3 · validar", "el comprobante es válido: Aceptado", "POST /api/cpe/validar", `"serie": "F001"`, `"codigo": "0"`, "curl -sS"} {
		assert.Contains(t, ticket, part)
	}
	assert.NotContains(t, page.markup()+ticket, "clave-mock-1")

	for i, answer := range []string{`"ruc"`, "[]"} { // they run as they are
		page.navigate(srv.page(fmt.Sprintf("llamadas/%d", i+1)))
		line := page.copied(exactly("Copiar: Como curl"))
		assert.Contains(t, line, "${FISCOPE_API_KEY:-clave-de-prueba}")
		out, err := exec.CommandContext(t.Context(), "env", "-u", "FISCOPE_API_KEY", "sh", "-c", line).Output()
		require.NoError(t, err, line)
		assert.Contains(t, string(out), answer, line)
	}
	assert.Equal(t, 2, strings.Count(srv.admin(http.MethodGet, "requests", ""), `"query": "razonSocial=O'Higgins & \"Hijos\" $HOME `+"`id`"+`&limit=3"`), "asked twice")
}

// A number that its client gave is an attempt; what only repeats is none. Ten of them are linked at most.
func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	srv.fault(`"op": "consultar", "times": 12`, `"preset": "throttle-429"`)
	for range 12 {
		srv.lookup("20100070970")
		srv.admin(http.MethodPost, "clock/advance", `{"by": "6s"}`)
	}
	srv.lookup("20100070970")
	srv.fault(`"op": "tipocambio", "times": 1`, `"status": 503`)
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-18", "")
	srv.send(http.MethodGet, "/api/tipocambio?fecha=2026-11-18", "", "X-API-KEY", defaultKey, "Fiscope-Attempt", "2")
	page := open(t, srv.page("llamadas/13"))
	page.row("tipocambio #15", "intento 2 de #14")
	page.row("consultar #13", "200", "repite #12, 6 s después")
	page.sees("Esta llamada repite #12, 6 s después.", "Intentos (13): #4 429", "#12 429 #13 200")
	assert.Equal(t, 9, js[int](page, `document.querySelectorAll('.why a[href*="llamadas/"]').length`))
	page.click("link", exactly("#12 429"))
	page.find("heading", like("^Llamada #12 "))
}
