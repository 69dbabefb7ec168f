package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		match mockserver.Match
		meets string // of the calls below
	}{
		"all":                {mockserver.Match{}, "lookup search cpe rate other"},
		"operation":          {mockserver.Match{Op: mockserver.OpBuscar}, "search"},
		"key":                {mockserver.Match{Key: "otra"}, "other"},
		"unknown key":        {mockserver.Match{Key: "nadie"}, ""},
		"RUC":                {mockserver.Match{RUC: "20131312955"}, "lookup cpe other"},
		"RUC of the issuer":  {mockserver.Match{RUC: "20100070970"}, "cpe"},
		"operation and RUC":  {mockserver.Match{Op: mockserver.OpConsultar, RUC: "20131312955"}, "lookup other"},
		"user agent":         {mockserver.Match{UserAgent: "go-HTTP"}, "lookup search cpe rate other"},
		"another user agent": {mockserver.Match{UserAgent: "curl"}, ""},
		"first":              {mockserver.Match{Nth: 1}, "lookup"},
		"third":              {mockserver.Match{Nth: 3}, "cpe"},
		"second of a RUC":    {mockserver.Match{RUC: "20131312955", Nth: 2}, "cpe"},
		"once":               {mockserver.Match{Times: 1}, "lookup"},
		"twice of a RUC":     {mockserver.Match{RUC: "20131312955", Times: 2}, "lookup cpe"},
		"search's text":      {mockserver.Match{Text: "SUNA"}, "search"},
		"limit":              {mockserver.Match{Text: "17"}, ""},
		"date":               {mockserver.Match{Text: "2024-02-29"}, "rate"},
		"another date":       {mockserver.Match{Text: "2024-02-28"}, ""},
		"receipt":            {mockserver.Match{Text: "f001-123"}, "cpe"},
		"another receipt":    {mockserver.Match{Text: "F001-124"}, ""},
		"RUC as text":        {mockserver.Match{Text: "20131312955"}, "lookup other"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithKey("otra", 10))
			fault := srv.Fault(c.match, mockserver.Status(503))
			var met []string
			for _, call := range []struct {
				name string
				do   func() reply
			}{
				{"lookup", func() reply { return api.get(lookup) }},
				{"search", func() reply { return api.get("/api/contribuyentes/search?limit=17&razonSocial=sunat") }},
				{"cpe", func() reply { return api.validar(cpe(t)) }},
				{"rate", func() reply { return api.get("/api/tipocambio?fecha=2024-02-29") }},
				{"other", func() reply { return api.withKey("otra").get(lookup) }},
			} {
				if call.do().status == 503 {
					met = append(met, call.name)
				}
			}
			assert.Equal(t, c.meets, strings.Join(met, " "))
			assert.Equal(t, len(met), fault.Status().Hits)
			// What reaches no operation is nobody's call.
			before := fault.Status().Seen
			api.get("/api/nada").isError(t, 404, "MOCK_NO_ROUTE")
			api.withKey("x").get(lookup).isError(t, 401, "UNAUTHORIZED")
			assert.Equal(t, before, fault.Status().Seen)
		})
	}
}

func TestMatchPrintsWithoutItsKey(t *testing.T) {
	m := mockserver.Match{Key: "canario-4711", Op: mockserver.OpBuscar}
	active := mockserver.New(t, mockserver.WithoutSocket()).Fault(m, mockserver.OK)
	for _, v := range []any{m, &m, active, []any{active}, mockserver.Fault{Match: m}, mockserver.FaultStatus{Fault: mockserver.Fault{Match: m}}, mockserver.Filter{Key: "canario-4711"}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			assert.NotContains(t, fmt.Sprintf(verb, v), "canario-4711")
		}
	}
}
