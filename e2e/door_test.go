package e2e

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The token is asked for once; afterwards a cookie that no script reads stands for it. A page without one says what to do.
func TestTheDoor(t *testing.T) {
	t.Parallel()
	const token = "un-token-largo-de-prueba"
	srv := start(t, "-admin-token", token)
	page := open(t, srv.page("sol"), apart)
	page.expect(`\b401\b.*session`)
	page.gone("link", exactly("Llamadas"))
	page.fill("textbox", exactly("Token"), "otro")
	page.click("button", exactly("Entrar"))
	page.sees("el token")
	page.fill("textbox", exactly("Token"), token)
	page.click("button", exactly("Entrar"))
	page.row("MIUSER01", "libre")
	srv.lookup("20131312955")
	page.show("Llamadas")
	page.row("consultar", "20131312955", "200")
	assert.NotContains(t, page.markup(), token)
	assert.Empty(t, js[string](page, "document.cookie"), "no script reads the cookie")
	assert.Empty(t, js[int](page, "localStorage.length + sessionStorage.length"))

	srv = start(t, "-addr", "0.0.0.0:0")
	at, err := url.Parse(srv.url)
	require.NoError(t, err)
	srv.url = "http://127.0.0.1:" + at.Port()
	page = open(t, srv.page(""))
	page.expect(`\b403\b`)
	page.find("heading", exactly("La administración está cerrada"))
	page.sees("-admin-token")
	assert.Equal(t, http.StatusForbidden, srv.send(http.MethodGet, "/_mock/requests", "").status)
}
