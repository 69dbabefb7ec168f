package mockserver_test

import (
	"fmt"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
)

func TestFilters(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("otra", 10))
	api.get(lookup)                                           // 1
	api.get("/api/contribuyentes/20000000001")                // 2
	api.withKey("otra").get(lookup)                           // 3
	api.validar(cpe(t, "claveSol", `"mala"`))                 // 4
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Null200) // null-200-1
	api.get(lookup)                                           // 5
	for name, c := range map[string]struct {
		filter mockserver.Filter
		want   string
	}{
		"all":         {mockserver.Filter{}, "[1 2 3 4 5]"},
		"operation":   {mockserver.Filter{Op: mockserver.OpConsultar}, "[1 2 3 5]"},
		"key":         {mockserver.Filter{Key: "otra"}, "[3]"},
		"fingerprint": {mockserver.Filter{Key: srv.Requests()[2].Key}, "[3]"},
		"RUC":         {mockserver.Filter{RUC: "20131312955"}, "[1 3 5]"},
		"issuer":      {mockserver.Filter{RUC: "20100070970"}, "[4]"},
		"path":        {mockserver.Filter{Path: "/cpe/"}, "[4]"},
		"status":      {mockserver.Filter{Status: 404}, "[2]"},
		"code":        {mockserver.Filter{Code: wrongSOL}, "[4]"},
		"fault":       {mockserver.Filter{Fault: "null-200-1"}, "[5]"},
		"after":       {mockserver.Filter{After: 3}, "[4 5]"},
		"two of them": {mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, "[1 3 5]"},
		"unmatched":   {mockserver.Filter{Unmatched: true}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := []int64{}
			for _, r := range srv.Requests(c.filter) {
				ns = append(ns, r.N)
			}
			assert.Equal(t, c.want, fmt.Sprint(ns))
		})
	}
	assert.Len(t, srv.Requests(mockserver.Filter{Status: 404}, mockserver.Filter{Key: "otra"}), 2, "any of them")
}
