package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A reading is changed, refused in the page's language without losing what was written, and put back.
func TestAssumptions(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page("supuestos"), english)
	page.expect(`answer 400.*assumptions|status of 400`) // it is what is asked for
	page.fill("textbox", exactly("BlockAfter"), "many")
	page.press("\r")
	page.sees("BlockAfter is written as a number (3, 1, 0, ...): see GET /_mock/assumptions")
	page.is("textbox", exactly("BlockAfter"), "value", "many")
	page.fill("textbox", exactly("BlockAfter"), "1")
	page.press("\r")
	page.find("button", exactly("Back to default: BlockAfter"))
	srv.validate("MIUSER01", "incorrecta")
	assert.Equal(t, http.StatusUnauthorized, srv.validate("MIUSER01", "clave-mock-1").status, "blocked by the first one")
	page.click("button", exactly("Back to default: BlockAfter"))
	page.gone("button", exactly("Back to default: BlockAfter"))
	page.choose(exactly("HeadersEverywhere"), "true")
	page.click("button", exactly("Save"))
	page.find("button", exactly("Back to default: HeadersEverywhere"))
	assert.Empty(t, js[[]string](page, cutOff(".assumptions input")), "cut off")
}
