package main

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
)

// handler answers what arrives: the admin API under /_mock/, the service everywhere else.
func (r *running) handler(ca []byte, log *slog.Logger) http.Handler {
	api := admin.New(admin.Config{Mock: r.mock, Assume: r.assume, Token: r.adminToken, CA: ca, Log: log, Ending: r.ending})
	var service http.Handler = r.mock
	if r.log != logOff {
		service = logged(service, log, r.logAll)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, admin.Prefix) {
			api.ServeHTTP(w, q)
			return
		}
		service.ServeHTTP(w, q)
	})
}
