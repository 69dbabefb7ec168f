package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The list, from the first call on: its marks, what was spent, its filters, and what leaves it.
func TestCalls(t *testing.T) {
	t.Parallel()
	srv := start(t, append(frozen, "-journal", "5")...)
	page := open(t, srv.page(""))
	page.find("heading", exactly("Todavía no llegó ninguna llamada"))
	first, err := exec.CommandContext(t.Context(), "sh", "-c", page.copied(like("^Copiar"))).Output()
	require.NoError(t, err)
	assert.Contains(t, string(first), `"ruc"`)
	page.row("consultar #1", "20131312955", "200")

	srv.send(http.MethodGet, "/api/contribuyentes/20131312955", "")
	row := page.row("consultar #2", "401", "sin clave de API")
	assert.NotContains(t, row, "rechazada")
	srv.send(http.MethodGet, "/api/contribuyentes/20131312955", "", "X-API-KEY", "otra")
	page.row("consultar #3", "401", "clave de API rechazada")
	srv.validate("MIUSER01", "incorrecta")
	page.row("validar", "20100070970 01 F001-123", "401", "INVALID_SOL_CREDENTIALS", "clave SOL incorrecta")
	assert.Empty(t, js[[]string](page, cutOff(".calls tbody :is(.status, .time, .key, .asked)")), "at 1280 pixels")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-19", "")
	srv.call(http.MethodGet, "/api/nada", "")
	page.row("sin ruta", "/api/nada", "404")
	srv.admin(http.MethodPut, "contribuyentes/20600000005", `{"razonSocial": "DE PRUEBA", "condicion": "NO HABIDO"}`)
	srv.lookup("20600000005")
	page.row("20600000005", "200", "NO HABIDO")
	srv.fault(`"times": 1`, `"preset": "html-200"`)
	srv.lookup("20100070970")
	page.row("20100070970", "200", "no corresponde", "html-200-1")
	assert.Contains(t, page.rows()[1], "html-200-1", "the newest is at the top")
	page.sees("8 llamadas 5 consultas gastadas 5 errores Gasto: consultar 3, tipocambio 1, validar 1")

	page.fill("searchbox", exactly("Consulta"), "f001-123")
	page.noRow("html-200-1") // which has it in no question
	page.sees("1 llamada 1 consulta gastada 1 error")
	page.choose(exactly("Operación"), "tipocambio")
	page.find("heading", exactly("Ninguna llamada pasa el filtro"))
	page.click("link", exactly("Mostrar todo"))
	page.row("#1")

	page.click("button", exactly("Pausar"))
	page.click("button", exactly("Contar desde aquí"))
	srv.lookup("20100053455")
	page.find("button", exactly("1 nueva"))
	page.noRow("20100053455")
	page.click("button", exactly("Continuar"))
	page.row("20100053455")
	page.sees("1 llamada 1 consulta gastada 0 errores")
	page.click("button", exactly("Contar todo"))

	har, err := os.ReadFile(page.downloaded("Exportar HAR", "llamadas.har"))
	require.NoError(t, err)
	n := strings.Count(string(har), `"startedDateTime"`)
	assert.Less(t, n, 9)
	page.sees(fmt.Sprintf("El HAR tiene %d de 9 llamadas", n))
	assert.Contains(t, string(har), fmt.Sprintf("%d de 9", n))
	text, err := os.ReadFile(page.downloaded("Exportar JSON", "llamadas.json"))
	require.NoError(t, err)
	var list struct{ Requests []any }
	require.NoError(t, json.Unmarshal(text, &list))
	assert.Len(t, list.Requests, 9)
	for _, asked := range page.requests("GET /_mock/requests") { // the calls come over the stream
		assert.Contains(t, []string{"GET /_mock/requests/stream", "GET /_mock/requests?limit=1", "GET /_mock/requests.har?"}, asked)
	}

	page.click("button", exactly("Vaciar el historial"))
	page.find("heading", exactly("Todavía no llegó ninguna llamada"))
	assert.Contains(t, srv.admin(http.MethodGet, "requests", ""), `"requests": []`)
}

// A thousand calls of two days: the document has a part of them, numbers keep to their column, the days are parted by a
// band of the list's width, and the oldest are found.
func TestAThousandCalls(t *testing.T) {
	t.Parallel()
	srv := start(t, "-quota", "-1")
	page := open(t, srv.page(""))
	page.sees("en vivo")
	srv.lookup("20600000005")
	for range 999 {
		srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-19", "")
	}
	srv.admin(http.MethodPost, "clock/advance", `{"by": "24h"}`)
	srv.lookup("20100070970")
	page.sees("1,001 llamadas")
	page.row("consultar #1001")
	assert.Empty(t, js[[]string](page, `[...document.querySelectorAll('.calls tbody .op .n')].filter((number) =>
		number.getBoundingClientRect().right > number.closest('td').getBoundingClientRect().right).map(({ innerText }) => innerText)`))
	assert.Equal(t, []bool{true, true}, js[[]bool](page, `[...document.querySelectorAll('tr.day td')].map((band) => Math.abs(band.getBoundingClientRect().right - band.closest('table').getBoundingClientRect().right) < 2)`))
	for !strings.Contains(page.text(), "filtre para verlas") {
		page.click("button", like("^Mostrar"))
	}
	assert.Len(t, page.rows(), 801, "with the head")
	page.fill("searchbox", exactly("Filtrar"), "20600000005")
	page.row("consultar #1")
	page.click("button", exactly("Volver")) // the clock
	page.gone("link", like(`\+1 día$`))
}

// The list marks what the real service answered, and what breaks the contract.
func TestCallsOfARealService(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/tipocambio") {
			_, _ = io.WriteString(w, `{"compra": "3.750", "venta": 3.760, "moneda": "USD", "fecha": "2026-11-20"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error": "no hay", "code": "NOT_FOUND"}`)
	}))
	t.Cleanup(service.Close)
	srv := start(t, "-upstream", service.URL)
	srv.lookup("20700000001")
	srv.lookup("20700000001")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-20", "")
	page := open(t, srv.page("llamadas"))
	page.row("tipocambio", "servicio real", "rompe el contrato")
	assert.Equal(t, 2, js[int](page, `[...document.querySelectorAll('.mark')].filter(({ textContent }) => textContent === 'servicio real').length`), "not what is recorded")
	page.photograph("real service")
}
