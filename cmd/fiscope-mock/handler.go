package main

import (
	"crypto/tls"
	_ "embed" // for the document
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
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
		Mock: r.mock, CA: ca, OpenAPI: openAPI, Page: page.Handler(admin.Prefix), Version: version(build.Read()), Log: log, Ending: r.ending, Door: r.door,
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

// opens returns the access rule of the admin API on addr: a token, if there is one. Without one, it is closed if other
// machines reach it; on loopback, requests must use one of its own host names.
func (s settings) opens(addr net.Addr, https *tls.Config) admin.Door {
	if s.adminToken != "" {
		return admin.Door{Token: s.adminToken}
	}
	if tcp, ok := addr.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return admin.Door{Closed: true}
	}
	return admin.Door{Hosts: func(name string) bool {
		switch ip := net.ParseIP(name); {
		case name == "localhost", ip != nil && ip.IsLoopback():
			return true
		case https != nil:
			return https.Certificates[0].Leaf.VerifyHostname(name) == nil
		}
		return false
	}}
}

// addOrigin parses an ORIGIN of -cors in the form that browsers send.
func (s *settings) addOrigin(value string) error {
	value = strings.ToLower(strings.TrimSuffix(value, "/"))
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || value != u.Scheme+"://"+u.Host {
		return errors.New("se espera un origen como http://localhost:5173")
	}
	s.origins = append(s.origins, value)
	return nil
}

// forBrowsers lets pages of these origins call the service. The admin API is never wrapped in it.
func forBrowsers(origins []string, service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(origins) == 0 || !strings.HasPrefix(r.URL.Path, "/api/") {
			service.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(origins, strings.ToLower(origin)) {
			service.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST")
			h.Set("Access-Control-Allow-Headers", "X-API-KEY, Content-Type")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After")
		service.ServeHTTP(w, r)
	})
}
