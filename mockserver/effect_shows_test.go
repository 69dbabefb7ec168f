package mockserver_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
)

// A fault counts as met exactly where it changed something, and where it did not, the next one acts.
func TestAFaultMeetsWhatItChanges(t *testing.T) {
	idle := map[mockserver.Preset][]string{
		mockserver.SUNATDown:        {"lookup", "search", "exchange rate"},
		mockserver.OtherRUC:         {"validation", "exchange rate"},
		mockserver.OtherDate:        {"lookup", "search", "validation"},
		mockserver.ContradictoryCPE: {"lookup", "search", "exchange rate"},
		mockserver.NumbersAsStrings: {"lookup", "search"},
		mockserver.Latin1:           {"search", "exchange rate"}, // without an accent in them
		mockserver.NoRateLimit:      {"search", "validation", "exchange rate"},
		mockserver.EpochReset:       {"search", "validation", "exchange rate"},
		mockserver.StrangeQuota:     {"search", "validation", "exchange rate"},
	}
	for _, preset := range mockserver.Presets() {
		for _, operation := range slices.Sorted(maps.Keys(four(t, api{}))) {
			t.Run(string(preset.Name)+" "+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv, api := start(t, mockserver.WithNow(at(t, "2026-11-20T12:00:00-05:00")))
					api.hc.Timeout = time.Hour // real for a hang, virtual here
					first := srv.Fault(mockserver.Match{Times: 1}, preset.Name)
					second := srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503))
					path, body, method := "/api/contribuyentes/20999990011", "", "GET"
					switch operation {
					case "search":
						path = "/api/contribuyentes/search?razonSocial=sunat"
					case "validation":
						path, body, method = "/api/cpe/validar", cpe(t), "POST"
					case "exchange rate":
						path = "/api/tipocambio?fecha=2024-02-29"
					}
					answer, _ := api.try(method, path, body)
					acts := !slices.Contains(idle[preset.Name], operation)
					assert.Equal(t, acts, first.Status().Hits == 1, "the fault")
					assert.Equal(t, !acts, second.Status().Hits == 1, "the one behind it")
					assert.Equal(t, !acts, strings.Contains(answer.body, "MOCK_FAULT"))
					assert.Equal(t, acts, first.Status().Seen == 1 && !first.Status().Active)
					srv.AssertSpent(t, mockserver.Filter{}, 1)
				})
			})
		}
	}
}

func TestAFaultThatCanNeverActIsNotActive(t *testing.T) {
	everywhere := mockserver.DefaultAssumptions()
	everywhere.HeadersEverywhere = true
	for name, c := range map[string]struct {
		match  mockserver.Match
		steps  []mockserver.Step
		assume mockserver.Assumptions
		active bool
	}{
		"the tax authority of a lookup":     {mockserver.Match{Op: mockserver.OpConsultar}, []mockserver.Step{mockserver.SUNATDown}, mockserver.DefaultAssumptions(), false},
		"of any operation":                  {mockserver.Match{}, []mockserver.Step{mockserver.SUNATDown}, mockserver.DefaultAssumptions(), true},
		"of a RUC":                          {mockserver.Match{RUC: "20100070970"}, []mockserver.Step{mockserver.SUNATDown}, mockserver.DefaultAssumptions(), true},
		"the date of a RUC":                 {mockserver.Match{RUC: "20100070970"}, []mockserver.Step{mockserver.OtherDate}, mockserver.DefaultAssumptions(), false},
		"the quota of a search":             {mockserver.Match{Op: mockserver.OpBuscar}, []mockserver.Step{mockserver.NoRateLimit}, mockserver.DefaultAssumptions(), false},
		"the quota of a search that has it": {mockserver.Match{Op: mockserver.OpBuscar}, []mockserver.Step{mockserver.NoRateLimit}, everywhere, true},
		"of an exchange rate":               {mockserver.Match{RUC: lookedUp, Op: mockserver.OpTipoCambio}, []mockserver.Step{mockserver.OK}, mockserver.DefaultAssumptions(), false},
		"of a search":                       {mockserver.Match{RUC: lookedUp, Op: mockserver.OpBuscar}, []mockserver.Step{mockserver.OK}, mockserver.DefaultAssumptions(), false},
		"of a validation":                   {mockserver.Match{RUC: lookedUp, Op: mockserver.OpValidar}, []mockserver.Step{mockserver.OK}, mockserver.DefaultAssumptions(), true},
		"an unknown key":                    {mockserver.Match{Key: "otra-clave"}, []mockserver.Step{mockserver.OK}, mockserver.DefaultAssumptions(), false},
		"with a latency":                    {mockserver.Match{Op: mockserver.OpConsultar}, []mockserver.Step{mockserver.SUNATDown.And(mockserver.Latency(1))}, mockserver.DefaultAssumptions(), true},
		"no fault at all":                   {mockserver.Match{Op: mockserver.OpConsultar}, []mockserver.Step{mockserver.OK}, mockserver.DefaultAssumptions(), true},
	} {
		t.Run(name, func(t *testing.T) {
			srv, _ := start(t, mockserver.WithAssumptions(c.assume))
			assert.Equal(t, c.active, srv.Fault(c.match, c.steps...).Status().Active)
		})
	}
}

// A step that cannot act waits for a call on which it can, and counts no other one.
func TestStepsWaitForTheirCall(t *testing.T) {
	srv, api := start(t)
	fault := srv.Fault(mockserver.Match{}, mockserver.SUNATDown, mockserver.Status(502))
	second := srv.Fault(mockserver.Match{Nth: 2}, mockserver.ContradictoryCPE)
	assert.Equal(t, []int{200, 200}, statuses(api, 2))
	assert.Equal(t, 400, api.validar(cpe(t, "serie", "")).status, "refused before the tax authority is asked")
	assert.Zero(t, fault.Status().Hits)
	assert.Equal(t, 500, api.validar(cpe(t)).status)
	assert.Equal(t, []int{502, 200}, statuses(api, 2))
	assert.Equal(t, 2, fault.Status().Hits)
	assert.Equal(t, 0, second.Status().Hits, "the second validation met the other fault")
	state, _ := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
	assert.Zero(t, state.Attempts)
}
