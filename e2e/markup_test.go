package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever comes in a call or a name is text on the page: it is seen as it is, and nothing of it runs.
func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	marks := []string{
		`<img src=x onerror="window.ran=1">`,
		`</script><script>window.ran=2</script>`,
		`<svg onload=window.ran=3>`,
		`javascript:window.ran=4`,
		`"><iframe srcdoc="<script>parent.ran=5</script>">`,
		`<a href="javascript:window.ran=6">pulse</a>`,
		`${window.ran=7}{{window.ran=8}}`,
	}
	srv := start(t)
	page := open(t, srv.page(""))
	quoted := func(text string) string {
		b, err := json.Marshal(text)
		require.NoError(t, err)
		return string(b)
	}
	for i, mark := range marks {
		ruc := []string{"20600000005", "20131312955"}[i%2]
		srv.call(http.MethodGet, "/api/contribuyentes/search?razonSocial="+url.QueryEscape(mark), "")
		srv.call(http.MethodGet, "/api/contribuyentes/"+url.PathEscape(mark), "")
		srv.call(http.MethodGet, "/api/"+url.PathEscape(mark), "")
		srv.send(http.MethodGet, "/api/contribuyentes/"+ruc, "", "X-API-KEY", defaultKey, "User-Agent", mark, "Referer", mark)
		srv.call(http.MethodPost, "/api/cpe/validar", `{"rucEmisor": `+quoted(mark)+`, "tipoComprobante": "01", "serie": `+quoted(mark)+`, "numero": 1, `+
			`"rucSolicitante": "20131312955", "usuarioSol": `+quoted(mark)+`, "claveSol": "x"}`)
		srv.admin(http.MethodPut, "contribuyentes/"+ruc, `{"ruc": "`+ruc+`", "razonSocial": `+quoted(mark)+`, "nombreComercial": `+quoted(mark)+`}`)
		srv.admin(http.MethodPut, "sol/20131312955/"+url.PathEscape(mark), `{"clave": "una-clave"}`)
		srv.admin(http.MethodPost, "faults", `{"name": `+quoted(mark)+`, "match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]}`)
		srv.lookup(ruc)
		page.row("buscar", mark)
		page.row("consultar", "503", mark) // the fault's name
		page.row("GET /api/"+mark, "404")
		srv.admin(http.MethodDelete, "faults", "")
	}
	for _, view := range views {
		page.show(view.title)
		if field := map[string]string{"contribuyentes": "Buscar por RUC o nombre"}[view.name]; field != "" {
			page.fill("searchbox", exactly(field), marks[0])
			page.settled()
		}
	}
	page.show("Usuarios SOL")
	for _, mark := range marks {
		page.row(mark, "libre")
	}
	page.click("button", exactly("Editar: "+marks[1]))
	page.find("dialog", exactly("Editar: "+marks[1]))
	page.click("button", exactly("Cancelar"))

	page.show("Llamadas")
	page.choose(exactly("Operación"), "consultar")
	page.fill("searchbox", exactly("Filtrar"), "onerror")
	opened := 0
	all, err := page.all("button")
	require.NoError(t, err)
	for _, c := range all { // each call opened, with its answer, its lines and its User-Agent
		if strings.HasPrefix(c.name, "consultar ") {
			_, err := on[bool](page, c, `function () { this.click(); return true }`)
			require.NoError(t, err)
			page.find("region", exactly("Como curl"))
			opened++
		}
	}
	assert.GreaterOrEqual(t, opened, 2)
	page.sees(marks[0])
	assert.Empty(t, js[string](page, "window.ran ? String(window.ran) : ''"), "something ran")
	assert.Zero(t, js[int](page, `document.querySelectorAll('img, iframe, body script, [onerror], [onload], a[href^="javascript:"]').length`))
}
