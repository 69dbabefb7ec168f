package mockserver_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
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
			failed := remaining(a.get("/api/contribuyentes/1")) // tells what is left after the refund
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
	"CodeInvalidField": {
		func(a *mockserver.Assumptions) { a.CodeInvalidField = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.validar(cpe(t, "serie", "1"))) + ", " + shown(t, a.validar(cpe(t, "numero", "0"))) + ", " +
				shown(t, a.validar(cpe(t, "tipoComprobante", `"09"`)))
		},
		"400 INVALID_FIELD, 400 INVALID_FIELD, 400 INVALID_FIELD", "400 OTRO, 400 OTRO, 400 OTRO",
	},
	"CodeInvalidDate": {
		func(a *mockserver.Assumptions) { a.CodeInvalidDate = "OTRO" },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.get("/api/tipocambio?fecha=2026-02-30"))
		},
		"400 INVALID_DATE", "400 OTRO",
	},
	"CodeSUNATUnavailable": {
		func(a *mockserver.Assumptions) { a.CodeSUNATUnavailable = "OTRO" },
		func(t *testing.T, s *mockserver.Server, a api) string {
			s.SetSUNATDown(true)
			return shown(t, a.validar(cpe(t)))
		},
		"500 SUNAT_UNAVAILABLE", "500 OTRO",
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
	"PublicationDelay": {
		func(a *mockserver.Assumptions) { a.PublicationDelay = 25 * time.Hour },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			waitUntil(t, "2026-11-20T17:00:00-05:00")
			today, yesterday := a.get("/api/tipocambio").status, a.get("/api/tipocambio?fecha=2026-11-19").status
			time.Sleep(time.Hour)
			return fmt.Sprint(today, yesterday, a.get("/api/tipocambio?fecha=2026-11-19").status)
		},
		"200 200 200", "404 404 200",
	},
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

func TestEachAssumptionIsInTheTable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for field := range reflect.TypeFor[mockserver.Assumptions]().Fields() {
		assert.Contains(t, string(doc), "\n//\t"+field.Name+" ", "the table of the package documentation")
	}
}

func TestAssumptionsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*mockserver.Assumptions){
		"the zero value":   func(a *mockserver.Assumptions) { *a = mockserver.Assumptions{} },
		"status 200":       func(a *mockserver.Assumptions) { a.MissingKey.Status = 200 },
		"no code":          func(a *mockserver.Assumptions) { a.InvalidKey.Code = "" },
		"status 600":       func(a *mockserver.Assumptions) { a.QuotaExceeded.Status = 600 },
		"empty gap code":   func(a *mockserver.Assumptions) { a.CodeInvalidDate = "" },
		"quota below":      func(a *mockserver.Assumptions) { a.Quota = -2 },
		"no zone":          func(a *mockserver.Assumptions) { a.ResetZone = nil },
		"vocabulary":       func(a *mockserver.Assumptions) { a.Estados = "otro" },
		"negative count":   func(a *mockserver.Assumptions) { a.BlockAfter = -1 },
		"negative block":   func(a *mockserver.Assumptions) { a.BlockFor = -1 },
		"block of nothing": func(a *mockserver.Assumptions) { a.BlockFor = 0 },
		"negative delay":   func(a *mockserver.Assumptions) { a.PublicationDelay = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			assume := mockserver.DefaultAssumptions()
			change(&assume)
			_, err := mockserver.Start(mockserver.WithAssumptions(assume))
			assert.ErrorContains(t, err, "Assumptions.")
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

func TestReadingsChangeOneFieldEach(t *testing.T) {
	usual := reflect.ValueOf(mockserver.DefaultAssumptions())
	changed := map[string]bool{}
	names := map[string]bool{}
	for i, r := range mockserver.Readings() {
		require.False(t, names[r.Name], "%s twice", r.Name)
		names[r.Name] = true
		var fields []string
		for j := range usual.NumField() {
			if !reflect.DeepEqual(usual.Field(j).Interface(), reflect.ValueOf(r.Assumptions).Field(j).Interface()) {
				fields = append(fields, usual.Type().Field(j).Name)
			}
		}
		if i == 0 {
			assert.Equal(t, "default", r.Name)
			assert.Empty(t, fields)
			continue
		}
		field, _, _ := strings.Cut(r.Name, "=")
		assert.Equal(t, []string{field}, fields, r.Name)
		changed[field] = true
		_, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAssumptions(r.Assumptions))
		assert.NoError(t, err, r.Name)
	}
	for field := range usual.Type().Fields() {
		assert.True(t, changed[field.Name], "no reading changes %s", field.Name)
	}
}

// What a caller of the SDK relies on must hold in every reading.
func TestEachAssumptionWithTheSDK(t *testing.T) {
	var ran []mockserver.Assumptions
	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
		ran = append(ran, a)
		srv := mockserver.New(t, mockserver.WithoutSocket(), mockserver.WithAssumptions(a))
		client := srv.Client()
		c, err := client.Contribuyentes.Consultar(t.Context(), "20131312955")
		require.NoError(t, err)
		assert.True(t, c.Estado.Activo())
		_, err = client.Contribuyentes.Consultar(t.Context(), "20000000001")
		assert.ErrorIs(t, err, fiscope.ErrNotFound)
		baja, err := client.Contribuyentes.Consultar(t.Context(), "20100000131")
		require.NoError(t, err)
		assert.True(t, baja.Estado.Baja())
		v, err := client.CPE.Validar(t.Context(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
			fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL)})
		require.NoError(t, err)
		assert.True(t, v.EsValido)
		require.NoError(t, srv.PutKey(srv.APIKey, 0))
		_, err = srv.Client().Contribuyentes.Consultar(t.Context(), "20131312955")
		assert.Error(t, err)
		assert.NotErrorIs(t, err, fiscope.ErrNotFound)
	})
	assert.Len(t, ran, len(mockserver.Readings()))
}
