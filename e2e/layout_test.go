package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Nobody scrolls sideways, on a telephone or at 200 %, whatever long words came.
func TestNothingScrollsSideways(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("palabrota", 20) // 180 characters
	srv := start(t, "-now", "2026-11-20T16:41:00-05:00", "-frozen")
	srv.traffic()
	srv.admin(http.MethodPost, "faults", `{"name": "`+word+`", "match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]}`)
	srv.admin(http.MethodPut, "contribuyentes/20600000005", `{"ruc": "20600000005", "razonSocial": "`+word+`", "direccion": "`+word+`", "estado": "`+word+`"}`)
	srv.admin(http.MethodPut, "comprobantes/20600000005/01/F001/1", `{"codigo": "99", "mensaje": "`+word+`"}`)
	srv.admin(http.MethodPut, "sol/20131312955/"+word, `{"clave": "una-clave"}`)
	srv.send(http.MethodGet, "/api/contribuyentes/20600000005", "", "X-API-KEY", defaultKey, "User-Agent", word)
	srv.lookup("20600000005")
	srv.lookup(word)
	srv.call(http.MethodGet, "/api/"+word, "")
	srv.call(http.MethodGet, "/api/contribuyentes/search?razonSocial="+word, "")
	for name, size := range map[string]option{"390 px": narrow, "200 %": zoomed, "320 px": func(v *viewer) { v.width, v.height = 320, 568 }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := open(t, srv.page(""), size)
			page.sees("GET /api/" + word)
			fits := func(what string) {
				t.Helper()
				page.settled()
				page.photograph(what + " " + name)
				assert.Empty(t, js[[]string](page, `document.documentElement.scrollWidth <= innerWidth ? [] :
					[...document.body.querySelectorAll('*')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.outerHTML.slice(0, 200))`), what)
			}
			for _, view := range views {
				page.show(view.title)
				if view.name == "contribuyentes" {
					page.fill("searchbox", exactly("Buscar por RUC o nombre"), word)
					page.row("20600000005")
				}
				fits(view.name)
			}
			page.show("Llamadas")
			page.click("button", like("^buscar "+word))
			page.find("region", exactly("Como curl"))
			fits("llamada")
			page.click("button", exactly("Cerrar"))
			page.show("Contribuyentes")
			page.click("button", exactly("Editar: 20600000005"))
			page.find("dialog", like("^Editar"))
			fits("contribuyente")
			page.click("button", exactly("Cancelar"))
		})
	}
}
