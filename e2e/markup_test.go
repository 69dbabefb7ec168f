package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever comes in a call or a name is text on the page: it is seen as it is, and nothing of it runs.
func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	const ruc, mark = "20600000005", `"></script><script>window.ran=1</script><img src=x onerror="window.ran=2"><a href="javascript:window.ran=3">pulse</a>`
	text, err := json.Marshal(mark)
	require.NoError(t, err)
	quoted := string(text)
	srv := start(t)
	srv.admin(http.MethodPut, "contribuyentes/"+ruc, `{"ruc": "`+ruc+`", "razonSocial": `+quoted+`, "nombreComercial": `+quoted+`}`)
	srv.admin(http.MethodPut, "sol/20131312955/"+url.PathEscape(mark), `{"clave": "una-clave"}`)
	srv.admin(http.MethodPost, "faults", `{"name": `+quoted+`, "match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]}`)
	srv.call(http.MethodGet, "/api/contribuyentes/search?razonSocial="+url.QueryEscape(mark), "")
	srv.lookup(ruc)
	srv.call(http.MethodGet, "/api/"+url.PathEscape(mark), "")
	srv.send(http.MethodGet, "/api/contribuyentes/"+ruc, "", "X-API-KEY", defaultKey, "User-Agent", mark, "Referer", mark)
	page := open(t, srv.page(""))
	page.row("buscar", mark)
	page.row("consultar", "503", mark) // the fault's name
	page.row("GET /api/"+mark, "404")
	for n := range 4 { // each call opened, with its answer, its lines and its User-Agent
		page.navigate(srv.page(fmt.Sprint("llamadas/", n+1)))
		page.find("region", exactly("Como curl"))
	}
	page.sees("User-Agent: " + mark)
	page.show("Fallas")
	page.row(mark, "terminada")
	page.show("Usuarios SOL")
	page.row(mark, "libre")
	page.show("Contribuyentes")
	page.fill("searchbox", exactly("Buscar por RUC o nombre"), ruc)
	page.row(mark)
	assert.Empty(t, js[string](page, "window.ran ? String(window.ran) : ''"), "something ran")
	assert.Zero(t, js[int](page, `document.querySelectorAll('img, iframe, body script, [onerror], [onload], a[href^="javascript:"]').length`))
}
