package main

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

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
