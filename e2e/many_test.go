package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ten thousand calls at once: the document stays small, the newest are there, and the oldest are found.
func TestTenThousandCalls(t *testing.T) {
	const n = 10_000
	srv := start(t, "-quota", "-1", "-journal", "10000")
	page := open(t, srv.page(""))
	page.sees("en vivo")
	assert.Equal(t, n, burst(t, srv, n, 8))
	srv.lookup("20131312955")
	page.sees("10,001 llamadas")
	page.row("consultar", "20131312955")
	assert.Contains(t, page.rows()[1], "20131312955", "the newest is at the top")
	assert.LessOrEqual(t, js[int](page, "document.getElementsByTagName('*').length"), 20_000)
	for !strings.Contains(page.text(), "filtre para verlas") {
		page.click("button", like("^Mostrar"))
	}
	assert.LessOrEqual(t, js[int](page, "document.getElementsByTagName('*').length"), 20_000)

	page.fill("searchbox", exactly("Filtrar"), fmt.Sprint(burstRUC+5))
	page.row(fmt.Sprint(burstRUC + 5)) // one of the oldest
	page.sees("1 llamada 1 consulta gastada")
}
