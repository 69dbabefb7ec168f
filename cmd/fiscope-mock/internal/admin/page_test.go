package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhoGetsThePage(t *testing.T) {
	r := start(t)
	r.api.(*api).Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })
	for accept, page := range map[string]bool{
		"": false, "*/*": false, "text/plain": false, "text/*": false, "application/json": false, "application/xhtml+xml": false,
		"application/json, */*;q=0.5": false,
		"text/html":                   true, "TEXT/HTML; charset=utf-8": true,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8":                                  true,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8": true,
		"text/html;q=0": false, "text/html;q=0.0, */*": false, "text/html;q=0.5, text/plain;q=0.4": true,
		"text/html;q=0.5, text/plain": false, "text/plain, text/html": true, "text/html;q=0.5, */*": false,
		"text/html;q=0.5, text/plain;q=0.4, */*": true, "text/html;q=0.5, */*, text/*;q=0.1": true,
		"text/html;q=mucho": false, ";;, text/html": true,
	} {
		got := r.do("GET", "", "", "Accept", accept)
		assert.Equal(t, page, got.body == "page", accept)
		assert.Equal(t, "Accept", got.header.Get("Vary"), "a cache knows both")
	}
	for accept, status := range map[string]int{"text/html": 307, "*/*": 404} { // without its slash, as people type it
		req := httptest.NewRequest(http.MethodGet, "/_mock", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		r.api.ServeHTTP(w, req)
		assert.Equal(t, status, w.Code)
		assert.Equal(t, status == 307, w.Header().Get("Location") == "/_mock/")
	}
	assert.NotEqual(t, "page", r.do("GET", "clock", "", "Accept", "text/html").body)
	assert.Equal(t, 405, r.do("POST", "", "{}", "Accept", "text/html").status)

	r.api.(*api).Page = nil
	assert.Contains(t, r.do("GET", "", "", "Accept", "text/html").body, "GET    /_mock/healthz")
}
