package mockserver_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readings has one entry for each field of Assumptions: what can be seen by default, what after a change.
var readings = map[string]struct {
	change  func(*mockserver.Assumptions)
	see     func(*testing.T, *mockserver.Server, api) string
	usual   string
	changed string
}{
	"MissingKey": {
		func(a *mockserver.Assumptions) { a.MissingKey = mockserver.Refusal{Status: 403, Code: "SIN_CLAVE"} },
		func(t *testing.T, _ *mockserver.Server, a api) string { return shown(t, a.withKey("").get(lookup)) },
		"401 UNAUTHORIZED", "403 SIN_CLAVE",
	},
	"InvalidKey": {
		func(a *mockserver.Assumptions) { a.InvalidKey = mockserver.Refusal{Status: 400, Code: "OTRA_CLAVE"} },
		func(t *testing.T, _ *mockserver.Server, a api) string { return shown(t, a.withKey("x").get(lookup)) },
		"401 UNAUTHORIZED", "400 OTRA_CLAVE",
	},
	"QuotaExceeded": {
		func(a *mockserver.Assumptions) { a.QuotaExceeded = mockserver.Refusal{Status: 403, Code: "BASTA"} },
		func(t *testing.T, s *mockserver.Server, a api) string {
			require.NoError(t, s.PutKey(s.APIKey, 0))
			return shown(t, a.get(lookup))
		},
		"429 QUOTA_EXCEEDED", "403 BASTA",
	},
	"Quota": {
		func(a *mockserver.Assumptions) { a.Quota = 7 },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			return a.get(lookup).header.Get("X-RateLimit-Limit")
		},
		"1000", "7",
	},
	"ResetZone": {
		func(a *mockserver.Assumptions) { a.ResetZone = time.UTC },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			return a.get(lookup).header.Get("X-RateLimit-Reset")
		},
		"2026-11-21T05:00:00Z", "2026-11-21T00:00:00Z",
	},
	"ChargeFailures": {
		func(a *mockserver.Assumptions) { a.ChargeFailures = false },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			failed := remaining(a.get("/api/contribuyentes/1")) // shows what is left after the refund
			a.get("/api/tipocambio?fecha=x")
			a.validar("{}")
			a.get("/api/contribuyentes/search?razonSocial=sunat") // a success is always charged
			return failed + " " + remaining(a.get(lookup))
		},
		"999 995", "1000 998",
	},
	"HeadersEverywhere": {
		func(a *mockserver.Assumptions) { a.HeadersEverywhere = true },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			var all []string
			for _, name := range []string{"search", "validation", "exchange rate"} {
				all = append(all, remaining(four(t, a)[name]()))
			}
			return strings.Join(all, ",")
		},
		",,", "999,998,997",
	},
	"HeadersOnErrors": {
		func(a *mockserver.Assumptions) { a.HeadersOnErrors = false },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			return remaining(a.get("/api/contribuyentes/1")) + "," + remaining(a.get("/api/contribuyentes/20000000001")) + "," + remaining(a.get(lookup))
		},
		"999,998,997", ",,997",
	},
	"CodeInvalidRUC": {
		func(a *mockserver.Assumptions) { a.CodeInvalidRUC = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.get("/api/contribuyentes/1")) + ", " + shown(t, a.validar(cpe(t, "rucEmisor", `"1"`)))
		},
		"400 INVALID_RUC, 400 INVALID_RUC", "400 OTRO, 400 INVALID_RUC",
	},
	"CodeInvalidLimit": {
		func(a *mockserver.Assumptions) { a.CodeInvalidLimit = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.get("/api/contribuyentes/search?razonSocial=abc&limit=51"))
		},
		"400 INVALID_LIMIT", "400 OTRO",
	},
	"CodeMissingFields": {
		func(a *mockserver.Assumptions) { a.CodeMissingFields = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string { return shown(t, a.validar("{}")) },
		"400 MISSING_FIELDS", "400 OTRO",
	},
	"CodeInvalidCPERUC": {
		func(a *mockserver.Assumptions) { a.CodeInvalidCPERUC = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.validar(cpe(t, "rucSolicitante", `"1"`))) + ", " + shown(t, a.get("/api/contribuyentes/1"))
		},
		"400 INVALID_RUC, 400 INVALID_RUC", "400 OTRO, 400 INVALID_RUC",
	},
	"CodeSUNATUnavailable": {
		func(a *mockserver.Assumptions) { a.CodeSUNATUnavailable = "OTRO" },
		func(t *testing.T, s *mockserver.Server, a api) string {
			s.SetSUNATDown(true)
			return shown(t, a.validar(cpe(t)))
		},
		"500 SUNAT_UNAVAILABLE", "500 OTRO",
	},
	"CodeInvalidDate": {
		func(a *mockserver.Assumptions) { a.CodeInvalidDate = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.get("/api/tipocambio?fecha=2026-02-30"))
		},
		"400 INVALID_DATE", "400 OTRO",
	},
	"Unknown": {
		func(a *mockserver.Assumptions) { a.Unknown = mockserver.UnknownNull },
		func(t *testing.T, s *mockserver.Server, a api) string {
			require.NoError(t, s.PutContribuyente(mockserver.Contribuyente{RUC: "20999990098", RazonSocial: "SIN DATOS", Ubigeo: "-"}))
			o := a.get("/api/contribuyentes/20999990098").object(t)
			return fmt.Sprintf("%#v %#v %#v", o["ubigeo"], o["tipo"], o["razonSocial"])
		},
		`"-" "" "SIN DATOS"`, `<nil> <nil> "SIN DATOS"`,
	},
	"Estados": {
		func(a *mockserver.Assumptions) { a.Estados = mockserver.EstadosLista },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			var all []string
			for _, ruc := range []string{"20131312955", "20999990054", "20100000131", "20999990062"} {
				all = append(all, a.get("/api/contribuyentes/" + ruc).object(t)["estado"].(string))
			}
			_, estado, _ := strings.Cut(a.get("/api/contribuyentes/search?razonSocial=agroexp").body, `"estado":"`)
			return strings.Join(append(all, estado[:strings.Index(estado, `"`)]), ", ")
		},
		"ACTIVO, BAJA PROVISIONAL, BAJA DEFINITIVA, SUSPENSIÓN TEMPORAL, SUSPENSIÓN TEMPORAL", "ACTIVO, BAJA, BAJA, SUSPENSIÓN, SUSPENSIÓN",
	},
	"BlockedSOL": {
		func(a *mockserver.Assumptions) {
			a.BlockedSOL = mockserver.Refusal{Status: 423, Code: "BLOQUEADO"}
		},
		refusedSOL,
		"401 401 401 401", "401 401 401 423",
	},
	"BlockAfter": {
		func(a *mockserver.Assumptions) { a.BlockAfter = 1 },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			first := a.validar(cpe(t, "claveSol", `"mala"`)).status
			return fmt.Sprint(first, a.validar(cpe(t)).status)
		},
		"401 200", "401 401",
	},
	"BlockFor": {
		func(a *mockserver.Assumptions) { a.BlockFor = time.Hour },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			for range 3 {
				a.validar(cpe(t, "claveSol", `"mala"`))
			}
			time.Sleep(30 * time.Minute)
			half := a.validar(cpe(t)).status
			time.Sleep(30 * time.Minute)
			return fmt.Sprint(half, a.validar(cpe(t)).status)
		},
		"200 200", "401 200",
	},
}

// refusedSOL shows the answers to a principal, an unknown, a wrong and a blocked user.
func refusedSOL(t *testing.T, _ *mockserver.Server, a api) string {
	statuses := []any{
		a.validar(cpe(t, "usuarioSol", `"`+mockserver.UsuarioPrincipal+`"`)).status,
		a.validar(cpe(t, "usuarioSol", `"NADIE"`)).status,
	}
	wrong := a.validar(cpe(t, "claveSol", `"mala"`)).status
	for range 2 {
		require.Equal(t, wrong, a.validar(cpe(t, "claveSol", `"mala"`)).status, "wrong, and not blocked before")
	}
	return fmt.Sprint(append(statuses, wrong, a.validar(cpe(t)).status)...)
}

// shown is the status and the code of an error answer.
func shown(t *testing.T, r reply) string {
	t.Helper()
	r.isError(t, r.status, r.code(t))
	return fmt.Sprint(r.status, " ", r.code(t))
}

func TestEachAssumption(t *testing.T) {
	for field := range reflect.TypeFor[mockserver.Assumptions]().Fields() {
		t.Run(field.Name, func(t *testing.T) {
			reading, ok := readings[field.Name]
			require.True(t, ok, "no reading tests this field")
			other := mockserver.DefaultAssumptions()
			reading.change(&other)
			for want, assume := range map[string]mockserver.Assumptions{
				reading.usual:   mockserver.DefaultAssumptions(),
				reading.changed: other,
			} {
				synctest.Test(t, func(t *testing.T) {
					srv, api := start(t, mockserver.WithAssumptions(assume))
					waitUntil(t, "2026-11-20T12:00:00-05:00")
					assert.Equal(t, want, reading.see(t, srv, api))
				})
			}
		})
	}
	assert.Len(t, readings, reflect.TypeFor[mockserver.Assumptions]().NumField(), "a reading of a field that is gone")
}

// One table says what is open, and docs/contract.md says the same.
func TestEachAssumptionIsInTheTables(t *testing.T) {
	contract, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	points := mockserver.OpenPoints()
	require.Len(t, points, reflect.TypeFor[mockserver.Assumptions]().NumField())
	for i, p := range points {
		assert.Equal(t, reflect.TypeFor[mockserver.Assumptions]().Field(i).Name, p.Field, "in the order of the fields")
		assert.Regexp(t, "[.`]"+p.Field+"`", string(contract))
		assert.NotEmpty(t, p.Reason)
		for section := range strings.SplitSeq(p.Section, ", ") {
			assert.Regexp(t, `\n##+ `+regexp.QuoteMeta(section)+`[. ]`, string(contract))
		}
	}
}

func TestAssumptionsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*mockserver.Assumptions){
		"the zero value": func(a *mockserver.Assumptions) { *a = mockserver.Assumptions{} },
		"status 200":     func(a *mockserver.Assumptions) { a.MissingKey.Status = 200 },
		"unknown":        func(a *mockserver.Assumptions) { a.Unknown = "" },
		"status 600":     func(a *mockserver.Assumptions) { a.QuotaExceeded.Status = 600 },
		"empty gap code": func(a *mockserver.Assumptions) { a.CodeInvalidDate = "" },
		"quota below":    func(a *mockserver.Assumptions) { a.Quota = -2 },
		"no zone":        func(a *mockserver.Assumptions) { a.ResetZone = nil },
		"vocabulary":     func(a *mockserver.Assumptions) { a.Estados = "otro" },
		"negative count": func(a *mockserver.Assumptions) { a.BlockAfter = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			assume := mockserver.DefaultAssumptions()
			change(&assume)
			_, err := mockserver.Start(mockserver.WithAssumptions(assume))
			assert.ErrorContains(t, err, "mockserver: ")
		})
	}
	never := mockserver.DefaultAssumptions()
	never.BlockAfter = 0
	_, api := start(t, mockserver.WithAssumptions(never))
	for range 20 {
		api.validar(cpe(t, "claveSol", `"mala"`)).isError(t, 401, wrongSOL)
	}
	assert.Equal(t, 200, api.validar(cpe(t)).status, "0 blocks never")
}

// Readings change while a server serves, from the next request on.
func TestSetAssumptions(t *testing.T) {
	srv, api := start(t, mockserver.WithNow(at(t, "2026-11-20T12:00:00-05:00")), mockserver.WithFrozenClock())
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20999990098", RazonSocial: "SIN DATOS", Ubigeo: "-"}))
	first := api.get("/api/contribuyentes/20999990098")
	assert.Contains(t, first.body, `"ubigeo":"-"`)

	a := srv.Control().Assumptions()
	assert.Equal(t, mockserver.DefaultAssumptions(), a)
	a.Unknown, a.Estados, a.Quota = mockserver.UnknownNull, mockserver.EstadosLista, 5
	require.NoError(t, srv.Control().SetAssumptions(a))
	assert.Equal(t, a, srv.Control().Assumptions())
	r := api.get("/api/contribuyentes/20999990098")
	assert.Contains(t, r.body, `"ubigeo":null`, "also of a record that was looked up before")
	assert.Equal(t, "5", r.header.Get("X-RateLimit-Limit"))
	assert.Equal(t, "3", remaining(r), "what was used stays used")
	assert.Equal(t, "2026-11-21T05:00:00Z", r.header.Get("X-RateLimit-Reset"))

	zone := a
	zone.ResetZone = time.UTC
	require.NoError(t, srv.Control().SetAssumptions(zone))
	r = api.get(lookup)
	assert.Equal(t, "4", remaining(r), "another reset, and nobody has used anything")
	assert.Equal(t, "2026-11-21T00:00:00Z", r.header.Get("X-RateLimit-Reset"))
	require.NoError(t, srv.Control().SetAssumptions(a))

	_, err := mockserver.Start(mockserver.WithAssumptions(mockserver.Assumptions{}))
	require.Error(t, err)
	loose, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAssumptions(a))
	require.NoError(t, err)
	require.ErrorContains(t, loose.Control().SetAssumptions(mockserver.Assumptions{}), "MissingKey")
	assert.Equal(t, a, loose.Control().Assumptions())

	require.NoError(t, srv.Reset(mockserver.PartQuotas))
	assert.Equal(t, a, srv.Control().Assumptions())
	require.NoError(t, srv.Reset(mockserver.PartData))
	assert.Equal(t, mockserver.DefaultAssumptions(), srv.Control().Assumptions())
	assert.Equal(t, "1000", api.get(lookup).header.Get("X-RateLimit-Limit"))
}
