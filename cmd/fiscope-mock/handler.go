package main

import (
	_ "embed" // for the document
	"log/slog"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/page"
	"github.com/fiscope/fiscope/internal/build"
)

//go:embed openapi-admin.yaml
var openAPI []byte

// handler serves the admin API under /_mock/ and at /_mock, and the service everywhere else. It redirects a browser from
// the base URL, which the program prints first, to the page.
func (r *running) handler(ca []byte, log *slog.Logger) http.Handler {
	api := admin.New(admin.Config{
		Mock: r.mock, CA: ca, OpenAPI: openAPI, Page: page.Handler(admin.Prefix), Version: version(build.Read()), Log: log, Ending: r.ending, Access: r.access,
	})
	service := forBrowsers(r.origins, r.mock)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/healthz" { // the usual path of health checks
			q.URL.Path = admin.Prefix + "healthz"
		}
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
