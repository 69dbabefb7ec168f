package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// frozen are the arguments of a program whose day does not end in the middle of a test.
var frozen = []string{"-now", "2026-11-20T16:41:00-05:00", "-frozen"}

// fault sets a fault by its JSON.
func (p *program) fault(match, step string) {
	p.t.Helper()
	p.admin(http.MethodPost, "faults", `{"match": {`+match+`}, "steps": [{`+step+`}]}`)
}

// An opened call shows what was sent and answered, headers included; the list keeps its time and key beside it.
func TestAnOpenedCallShowsBothSides(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	srv.fault(`"op": "consultar", "times": 1`, `"preset": "outage-503"`)
	srv.lookup("20100070970")
	page.click("button", like("^consultar 20131312955"))
	page.sees("X-API-KEY: k_", "User-Agent: Go-http-client/1.1", "X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 999", "X-RateLimit-Reset: 2026-11-21T05:00:00Z")
	page.click("button", like("^consultar 20100070970"))
	page.sees("Retry-After: 120", "La falla outage-503-1 actuó")
	for _, column := range []string{"time", "key"} {
		assert.Empty(t, js[[]string](page, `[...document.querySelectorAll('.calls tbody .`+column+`')].filter((cell) => cell.clientWidth < 40 || cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText)`), "cut off")
	}
}

// A row copies its call as curl, by its button or the key c, and the arrows go on to the next call while one is opened.
func TestTheRowsByKeysAndButtons(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	for _, ruc := range []string{"20131312955", "20100070970", "20100053455"} {
		srv.lookup(ruc)
	}
	page.row("20100053455")
	assert.Contains(t, page.copied(exactly("curl #2")), "/api/contribuyentes/20100070970'")
	page.gone("heading", like("^Llamada #"))
	page.click("button", like("^consultar 20100053455"))
	page.find("heading", like("^Llamada #3 "))
	page.press(kb.ArrowDown)
	page.find("heading", like("^Llamada #2 "))
	page.press(kb.ArrowDown)
	page.find("heading", like("^Llamada #1 "))
	page.press(kb.ArrowUp)
	page.find("heading", like("^Llamada #2 "))
	clipboard.Lock()
	defer clipboard.Unlock()
	page.allowReading()
	js[bool](page, `navigator.clipboard.writeText('nothing').then(() => true)`)
	page.press("c")
	page.within(patience, func() error {
		if text := js[string](page, `navigator.clipboard.readText()`); !strings.Contains(text, "/api/contribuyentes/20100070970'") {
			return fmt.Errorf("the clipboard holds %q", text)
		}
		return nil
	})
}

// The address says which call is opened and what is filtered: it can be given to others, loaded again, and left by Back.
func TestTheAddressOfACall(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	srv.lookup("20131312955")
	srv.validate("MIUSER01", "clave-mock-1")
	srv.lookup("20100070970")
	page := open(t, srv.page("llamadas/2?op=validar&texto=f001"))
	for reload := range 2 {
		if reload > 0 {
			require.NoError(t, chromedp.Do(page.ctx, chromedp.Reload()))
		}
		page.sees("en vivo")
		page.find("heading", like("^Llamada #2 "))
		page.row("validar", "F001-123")
		page.noRow("consultar")
		page.is("searchbox", exactly("Filtrar"), "value", "f001")
	}
	page.click("button", exactly("Cerrar"))
	page.gone("heading", like("^Llamada #"))
	assert.Equal(t, "#llamadas?texto=f001&op=validar", js[string](page, "location.hash"))
	page.click("button", like("^validar"))
	page.find("heading", like("^Llamada #2 "))
	js[bool](page, `history.back() ?? true`)
	page.gone("heading", like("^Llamada #"))
	page.noRow("consultar")

	page.fill("searchbox", exactly("Filtrar"), "nada de eso")
	page.find("heading", exactly("Ninguna llamada pasa el filtro"))
	page.click("link", exactly("Mostrar todo"))
	page.row("20131312955")
	page.row("consultar", "20100070970")
	page.navigate(srv.page("llamadas/77"))
	page.sees("El historial no tiene esa llamada")
	page.click("button", exactly("Cerrar"))
	page.gone("heading", like("^Llamada #"))
}

// What is listed leaves as HAR and JSON, and a call as Markdown; no secret is in any of them.
func TestExports(t *testing.T) {
	t.Parallel()
	const key = "una-clave-que-nadie-ve"
	srv := start(t, append(frozen, "-api-key", key)...)
	page := open(t, srv.page(""))
	lookup := func(ruc string) { srv.send(http.MethodGet, "/api/contribuyentes/"+ruc, "", "X-API-KEY", key) }
	lookup("20131312955")
	lookup("20100070970")
	srv.send(http.MethodPost, "/api/cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, `+
		`"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}`, "X-API-KEY", key)
	page.row("validar")
	page.fill("searchbox", exactly("Filtrar"), "20100070970")
	page.noRow("20131312955")

	har, err := os.ReadFile(page.downloaded("Exportar HAR", "llamadas.har"))
	require.NoError(t, err)
	var exported struct {
		Log struct {
			Version string
			Entries []struct{ Request struct{ URL string } }
		}
	}
	require.NoError(t, json.Unmarshal(har, &exported))
	assert.Equal(t, "1.2", exported.Log.Version)
	require.Len(t, exported.Log.Entries, 2)
	assert.Equal(t, srv.url+"/api/contribuyentes/20100070970", exported.Log.Entries[0].Request.URL)
	assert.Equal(t, srv.url+"/api/cpe/validar", exported.Log.Entries[1].Request.URL)

	list, err := os.ReadFile(page.downloaded("Exportar JSON", "llamadas.json"))
	require.NoError(t, err)
	var calls struct{ Requests []struct{ N int } }
	require.NoError(t, json.Unmarshal(list, &calls))
	assert.Equal(t, []struct{ N int }{{2}, {3}}, calls.Requests)

	page.click("button", like("^validar"))
	ticket := page.copied(exactly("Copiar Markdown"))
	for _, part := range []string{"### Llamada #3 · validar", "el comprobante es válido: Aceptado", "POST /api/cpe/validar", `"serie": "F001"`, "Content-Type: application/json", `"codigo": "0"`, "curl -sS"} {
		assert.Contains(t, ticket, part)
	}
	assert.Equal(t, 6, strings.Count(ticket, "```"))
	assert.Equal(t, srv.url+"/_mock/#llamadas/3?texto=20100070970", page.copied(exactly("Copiar enlace")))
	for _, text := range []string{string(har), string(list), ticket} {
		assert.NotContains(t, text, key)
		assert.NotContains(t, text, "clave-mock-1")
	}
}

// The attempts of a question are one group, with the time between them.
func TestRetriesAreAGroup(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.fault(`"op": "consultar", "times": 1`, `"preset": "throttle-429"`)
	srv.lookup("20100070970")
	srv.admin(http.MethodPost, "clock/advance", `{"by": "1500ms"}`)
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-19", "")
	srv.lookup("20100070970")
	page.row("consultar", "20100070970", "200", "intento 2 de #1, 1.5 s después")
	rows := page.rows()
	assert.Contains(t, rows[1], "intento 2", "the last attempt is at the top")
	assert.Contains(t, rows[2], "429", "and the first one below it")
	assert.Equal(t, 2, js[int](page, `document.querySelectorAll('tr.linked').length`))
	srv.validate("MIUSER01", "clave-mock-1")
	page.row("validar")
	page.click("button", like("^consultar 20100070970, 200"))
	page.sees("Es el intento 2 de #1, 1.5 s después.", "Intentos: #1 429 #3 200")
	page.row("#3", "intento 2 de #1", "1") // beside the opened call too
	page.row("#4", "20100070970 01 F001-123")
	assert.Empty(t, js[[]string](page, `[...document.querySelectorAll('.calls tbody :is(.n, .asked, .cost)')].filter((part) => part.checkVisibility() && part.clientWidth !== 0 || part.matches('span')
		? part.scrollWidth > part.clientWidth && part.clientWidth > 0 || part.scrollHeight > part.clientHeight + 2 && part.clientHeight > 0 : true).map((part) => part.className + part.innerText)`), "cut off")
	page.click("link", exactly("#1 429"))
	page.find("heading", like("^Llamada #1 "))
	page.sees("Intentos: #1 429 #3 200")
	srv.fault(`"op": "consultar", "times": 1`, `"preset": "throttle-429"`)
	srv.lookup("20131312955")
	page.click("button", like("^consultar 20131312955, 429"))
	page.find("heading", like("^Llamada #5 "))
	srv.lookup("20131312955")
	page.sees("Intentos: #5 429 #6 200")
}

// An answer that broke off or is not what was asked for is red and an error, and what an answer means is a badge.
func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.admin(http.MethodPut, "contribuyentes/20600000005", `{"razonSocial": "DE PRUEBA", "condicion": "NO HABIDO"}`)
	srv.lookup("20600000005")
	page.row("20600000005", "NO HABIDO")
	srv.validate("MIUSER01", "clave-mock-1")
	for codigo, estado := range map[string]string{"2": "Anulado", "4": "En Proceso"} {
		srv.admin(http.MethodPut, "comprobantes/20100070970/01/F001/123", `{"codigo": "`+codigo+`"}`)
		srv.validate("MIUSER01", "clave-mock-1")
		page.row("validar", estado)
	}
	page.sees("4 llamadas 4 consultas gastadas 0 errores Gasto: validar 3, consultar 1")

	srv.fault(`"op": "consultar", "times": 1`, `"preset": "html-200"`)
	srv.lookup("20131312955")
	page.row("20131312955", "200", "no corresponde")
	srv.fault(`"op": "buscar", "times": 1`, `"preset": "reset-inside"`)
	request, err := http.NewRequest(http.MethodGet, srv.url+"/api/contribuyentes/search?razonSocial=gloria", nil)
	require.NoError(t, err)
	request.Header.Set("X-API-KEY", defaultKey)
	if answer, err := calls.Do(request); err == nil {
		answer.Body.Close()
	}
	page.row("buscar", "200", "cortada a medias")
	page.sees("2 errores")
	red := js[string](page, `getComputedStyle(document.querySelector('.summary .bad b')).color`)
	for _, row := range []string{"buscar", "consultar"} {
		assert.Equal(t, red, js[string](page, `getComputedStyle([...document.querySelectorAll('tr.spoilt')].find((row) => row.innerText.includes('`+row+`')).querySelector('.status')).color`))
	}
	page.click("link", exactly("2 errores"))
	page.noRow("validar")
	assert.Len(t, page.rows(), 3)
	page.find("columnheader", exactly("HTTP"))
	page.click("button", like("^consultar 20131312955"))
	page.sees("La respuesta no corresponde")
}

// A moved clock is marked and led back; days are parted.
func TestAMovedClock(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	page.gone("button", exactly("Volver"))
	srv.admin(http.MethodPost, "clock/advance", `{"by": "24h"}`)
	srv.lookup("20100070970")
	page.find("link", like(`\+1 día$`))
	page.row("20100070970")
	assert.Equal(t, 2, js[int](page, `document.querySelectorAll('tr.day').length`))
	page.click("button", exactly("Volver"))
	page.gone("link", like(`\+1 día$`))
	page.gone("button", exactly("Volver"))
}

// The page shows what is served: a default in grey where a record has nothing, a state in the vocabulary of the answers.
func TestWhatIsServedOfATaxpayer(t *testing.T) {
	t.Parallel()
	srv := start(t)
	srv.admin(http.MethodPut, "contribuyentes/20600000005", `{"razonSocial": "DE PRUEBA"}`)
	srv.admin(http.MethodPut, "contribuyentes/20600000013", `{"razonSocial": "DE PRUEBA", "estado": "BAJA DEFINITIVA"}`)
	srv.admin(http.MethodPut, "assumptions", `{"Estados": "lista"}`)
	page := open(t, srv.page("contribuyentes"))
	page.row("20600000005", "ACTIVO", "HABIDO")
	assert.Equal(t, "ACTIVO HABIDO", js[string](page, `[...[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('20600000005')).querySelectorAll('.hint')].map((hint) => hint.innerText).join(' ')`))
	assert.NotContains(t, page.row("20600000013"), "DEFINITIVA")

	page.fill("searchbox", exactly("Buscar por RUC o nombre"), "20600000021")
	page.sees("Ningún contribuyente tiene «20600000021».")
	page.click("button", exactly("Agregar uno NO HABIDO"))
	page.row("20600000021", "NO HABIDO")
	page.fill("searchbox", exactly("Buscar por RUC o nombre"), "nadie se llama así")
	page.click("button", exactly("Mostrar todo"))
	page.row("20600000005")
	assert.Contains(t, srv.lookup("20600000021").body, `"condicion":"NO HABIDO"`)
}

// What the server says in Spanish, an English page says in English.
func TestServerTextsInEnglish(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page("supuestos"), english)
	page.expect(`answer 400.*assumptions|status of 400`)
	page.fill("textbox", exactly("BlockAfter"), "muchos")
	page.press("\r")
	page.sees("The server does not take that: “")
	page.show("Exchange rate")
	page.click("button", like(`\bSunday, 15 November 2026: Sunday$`))
	page.sees("No rate: Sunday.")

	srv.lookup("123")
	srv.fault(`"op": "validar", "times": 1`, `"latency": "1ms"`)
	srv.call(http.MethodPost, "/api/cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123}`)
	page.show("Calls")
	page.click("button", like("^consultar 123"))
	page.sees("Not valid: RUC must have 11 digits.")
	page.click("button", like("^validar"))
	page.sees("Missing or empty: rucSolicitante, usuarioSol, claveSol. The fault fault-1 hit it")
}

// At the end of the list the opened call stays below the header bar, and gates have the width of the page.
func TestNothingSlidesUnderTheHeader(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	for range 40 {
		srv.validate("MIUSER01", "clave-mock-1")
	}
	page.sees("40 llamadas")
	page.navigate(srv.page("llamadas/40"))
	page.find("region", exactly("Como curl"))
	assert.GreaterOrEqual(t, js[float64](page, `scrollTo(0, document.body.scrollHeight), new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(
		document.querySelector('.detail').getBoundingClientRect().top - document.querySelector('.top').getBoundingClientRect().bottom))))`), 0.0)

	page.show("Datos")
	page.navigate(srv.page("llamadas/39"))
	page.find("heading", like("^Llamada #39 "))
	ends := func() []float64 {
		return js[[]float64](page, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
			const { top, bottom } = document.querySelector('.detail').getBoundingClientRect()
			done([scrollY, top - document.querySelector('.top').getBoundingClientRect().bottom, innerHeight - bottom])
		})))`)
	}
	for _, scrolled := range []bool{false, true} {
		got := ends()
		assert.Equal(t, scrolled, got[0] > 0)
		assert.GreaterOrEqual(t, got[1], 0.0, "below the header")
		assert.GreaterOrEqual(t, got[2], 0.0, "its end is in the window")
		assert.Less(t, got[2], 30.0, "and near its end")
		js[bool](page, `(document.querySelector('.detail').scrollTo(0, 1e6), scrollTo(0, document.body.scrollHeight), true)`)
	}
	page.navigate(srv.page("llamadas/38"))
	page.find("heading", like("^Llamada #38 "))
	assert.Zero(t, js[float64](page, `document.querySelector('.detail').scrollTop`), "another call begins at its beginning")

	gate := open(t, start(t, "-admin-token", "un-token-largo-de-prueba").page(""), apart)
	gate.find("button", exactly("Entrar"))
	assert.GreaterOrEqual(t, js[float64](gate, `document.querySelector('.gate').getBoundingClientRect().width`), 500.0)
}

// On a telephone the first call is seen without scrolling; what is folded away is one touch away.
func TestATelephone(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""), narrow)
	srv.lookup("20131312955")
	page.row("20131312955")
	assert.LessOrEqual(t, js[float64](page, `document.querySelector('tr[data-n]').getBoundingClientRect().top`), 300.0)
	page.gone("button", exactly("Exportar HAR"))
	page.click("button", exactly("Más"))
	page.find("button", exactly("Exportar HAR"))
	page.choose(exactly("Respuesta"), "4xx")
	page.find("heading", exactly("Ninguna llamada pasa el filtro"))
}

// With an opened call beside it, a list of two days keeps its columns, and its keys act on calls that it does not show.
func TestTwoDaysBesideAnOpenedCall(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.lookup("20131312955")
	srv.admin(http.MethodPost, "clock/advance", `{"by": "24h"}`)
	srv.lookup("20100070970")
	page.row("consultar", "20100070970")
	page.click("button", like("^consultar 20100070970"))
	page.find("heading", like("^Llamada #2 "))
	assert.Equal(t, 2, js[int](page, `document.querySelectorAll('tr.day').length`))
	assert.GreaterOrEqual(t, js[int](page, `document.querySelector('.calls tbody td.subject').clientWidth`), 100)
	js[any](page, "location.hash = \"#llamadas/1?op=buscar\"")
	page.find("heading", like("^Llamada #1 "))
	page.press("c")
	page.sees("Copiado: Como curl #1")
}

// A method that a route does not have is not the key's fault, and a Sunday's missing rate cannot be set.
func TestWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	srv := start(t, frozen...)
	page := open(t, srv.page(""))
	srv.call(http.MethodGet, "/api/cpe/validar", "")
	page.row("405", "sin ruta")
	page.click("button", like("^validar"))
	page.sees("El servicio no tiene esa ruta o ese método.")
	srv.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-15", "")
	page.click("button", like("^tipocambio"))
	page.find("heading", like("^Llamada #2 "))
	assert.NotContains(t, page.text(), "Poner el tipo de cambio")
}
