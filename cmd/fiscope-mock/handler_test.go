package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first line that the program prints opens the page in a browser; another program gets the list of routes.
func TestABrowserAtTheBaseURL(t *testing.T) {
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, c := range map[string]struct {
		method, path, accept string
		status               int
	}{
		"a browser":         {"GET", "/", "text/html,*/*;q=0.8", http.StatusTemporaryRedirect},
		"a program":         {"GET", "/", "*/*", http.StatusNotFound},
		"another method":    {"POST", "/", "text/html", http.StatusNotFound},
		"the service's own": {"GET", "/api/", "text/html", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, nil)
			require.NoError(t, err)
			r.Header.Set("Accept", c.accept)
			answer, err := client.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			assert.Equal(t, c.status, answer.StatusCode)
			assert.Equal(t, c.status == http.StatusTemporaryRedirect, answer.Header.Get("Location") == "/_mock/")
		})
	}
}

// A probe asks for it by habit, and is no call of the service.
func TestHealthzOfTheServer(t *testing.T) {
	url := serving(t, nil, "-addr", "127.0.0.1:0", "-log", "off")
	for _, path := range []string{"/healthz", "/_mock/healthz"} {
		status, body := ask(t, "GET", url+path, "")
		assert.Equal(t, 200, status, path)
		assert.JSONEq(t, `{"status": "ok"}`, body, path)
	}
	_, journal := ask(t, "GET", url+"/_mock/requests", "")
	assert.NotContains(t, journal, "healthz")
}
