package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// After a restart of the program the page goes on by itself, with the new program's calls alone: each of them once.
func TestThePageReconnects(t *testing.T) {
	t.Parallel()
	srv := start(t)
	page := open(t, srv.page(""))
	page.expect(`ERR_|Failed to load resource`)
	srv.lookup("20131312955")
	srv.lookup("20131312955")
	page.sees("en vivo", "2 llamadas")
	srv.stop()
	page.sees("sin conexión, reintentando")
	again := start(t, "-addr", strings.TrimPrefix(srv.url, "http://"))
	again.lookup("20100070970")
	page.sees("en vivo", "1 llamada")
	assert.Len(t, page.rows(), 2, "with the head")
	assert.LessOrEqual(t, len(page.requests("GET /_mock/requests/stream")), 4, "it does not hammer")
}
