package nearest_test

import (
	"strings"
	"testing"

	"github.com/fiscope/fiscope/internal/nearest"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOf(t *testing.T) {
	routes := []nearest.Route{
		{"GET", "/api/things/search"},
		{"GET", "/api/things/{id}"},
		{"POST", "/api/jobs/start"},
		{"DELETE", "/api/rate"},
		{"GET", "/api/rate"},
	}
	for request, want := range map[string]string{
		"GET /api/thing/search":                   "GET /api/things/search",
		"GET /API/Things/SEARCH/":                 "GET /api/things/search",
		"GET /api/things/sera":                    "GET /api/things/search",
		"GET /api/thing/123":                      "GET /api/things/{id}",
		"GET /things/123":                         "GET /api/things/{id}",
		"GET /v1/things/123":                      "GET /api/things/{id}",
		"GET /api/things":                         "GET /api/things/{id}",
		"GET /api/things/123/owner":               "GET /api/things/{id}",
		"POST /api/start":                         "POST /api/jobs/start",
		"POST /jobs/begin":                        "POST /api/jobs/start",
		"GET /api/v2/rate":                        "GET /api/rate",
		"DELETE /api/rates":                       "DELETE /api/rate",
		"PUT /api/rate":                           "DELETE /api/rate",
		"GET ":                                    "GET /api/rate",
		"GET /":                                   "GET /api/rate",
		"GET /" + strings.Repeat("/rate", 10_000): "GET /api/rate",
		"GET /\xff\xfe":                           "GET /api/rate",
	} {
		t.Run(request[:min(len(request), 30)], func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			best, _ := nearest.Of(method, path, routes)
			assert.Equal(t, want, routes[best].String())
		})
	}
	for path, want := range map[string]bool{
		"/api/rates": true, "/rate": true, "/searc": true, "/api/things": true, "/api/v2/rate": true,
		"": false, "/": false, "/x": false, "/api/x": false, "/version": false, "/es/pub/v2/api/rate": false,
	} {
		_, near := nearest.Of("GET", path, routes)
		assert.Equal(t, want, near, path)
	}
}
