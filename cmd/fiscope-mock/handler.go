package main

import (
	_ "embed" // the document
	"log/slog"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/page"
	"github.com/fiscope/fiscope/internal/build"
)

//go:embed openapi-admin.yaml
var openAPI []byte

// handler answers what arrives: the admin API under /_mock/ and at /_mock, the service everywhere else. A browser at
// the base URL, which is what the program says first, is led to the page.
func (r *running) handler(door admin.Door, ca []byte, log *slog.Logger) http.Handler {
	api := admin.New(admin.Config{
		Mock: r.mock, CA: ca, OpenAPI: openAPI, Page: page.Handler(admin.Prefix), Version: version(build.Read()), Log: log, Ending: r.ending, Door: door,
	})
	var service http.Handler = r.mock
	if r.log != logOff {
		service = logged(r.mock, log, r.logAll)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == strings.TrimSuffix(admin.Prefix, "/") || strings.HasPrefix(q.URL.Path, admin.Prefix) {
			api.ServeHTTP(w, q)
			return
		}
		if q.URL.Path == "/" && q.Method == http.MethodGet && admin.WantsPage(q) {
			http.Redirect(w, q, admin.Prefix, http.StatusTemporaryRedirect)
			return
		}
		service.ServeHTTP(w, q)
	})
}
