package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAssumptions(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("supuestos"))
	page.row("BlockAfter", "intentos incorrectos seguidos que bloquean", "3", "4.3", "estricto, para pruebas")
	page.fill("textbox", exactly("BlockAfter"), "1")
	page.click("button", exactly("Guardar"))
	page.find("button", exactly("Restablecer: BlockAfter"))
	srv.validate("MIUSER01", "incorrecta")
	assert.Equal(t, http.StatusUnauthorized, srv.validate("MIUSER01", "clave-mock-1").status, "blocked by the first one")
	page.click("button", exactly("Restablecer: BlockAfter"))
	page.gone("button", exactly("Restablecer: BlockAfter"))

	page.choose(exactly("HeadersEverywhere"), "true")
	page.click("button", exactly("Guardar"))
	page.find("button", exactly("Restablecer: HeadersEverywhere"))
}

// No name, nor value, is broken inside.
func TestTheNamesOfAssumptionsAreWhole(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for name, language := range map[string]option{"Spanish": func(*viewer) {}, "English": english} {
		page := open(t, srv.page("supuestos"), language)
		page.row("CodeInvalidCPERUC")
		assert.Empty(t, js[[]string](page, `[...document.querySelectorAll('.assumptions :is(th[scope=row], code)')].filter(({ firstChild }) => {
			const text = document.createRange()
			text.selectNodeContents(firstChild)
			return text.getClientRects().length > 1
		}).map(({ innerText }) => innerText)`), name)
		assert.Empty(t, js[[]string](page, `[...document.querySelectorAll('.assumptions input')].filter((input) => input.scrollWidth > input.clientWidth).map(({ value }) => value)`), name)
	}
}

// What the server refuses is said where it was written, and nothing of it is lost.
func TestARefusedAssumption(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("supuestos"))
	page.expect(`answer 400.*assumptions|status of 400`) // it is what is asked for
	page.fill("textbox", exactly("BlockAfter"), "muchos")
	page.press("\r")
	page.sees("BlockAfter: ")
	page.is("textbox", exactly("BlockAfter"), "value", "muchos")
	for _, assumption := range read[[]struct{ Name, Value string }](srv, "assumptions") {
		if assumption.Name == "BlockAfter" {
			assert.Equal(t, "3", assumption.Value)
		}
	}
}
