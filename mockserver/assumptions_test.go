package mockserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	"KeyBody": {
		func(a *mockserver.Assumptions) { a.KeyBody = mockserver.ErrorBodyNoCode },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			missing, invalid := a.withKey("").get(lookup), a.withKey("x").get(lookup)
			return members(missing.body) + "; " + members(invalid.body)
		},
		"code error; code error", "error; error",
	},
	"QuotaBody": {
		func(a *mockserver.Assumptions) { a.QuotaBody = mockserver.ErrorBodyMessage },
		func(t *testing.T, s *mockserver.Server, a api) string {
			require.NoError(t, s.PutKey(s.APIKey, 0))
			return members(a.get(lookup).body)
		},
		"code error", "message",
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
	"ResetRolling": {
		func(a *mockserver.Assumptions) { a.ResetRolling = true },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			first := a.get(lookup).header.Get("X-RateLimit-Reset")
			time.Sleep(time.Hour)
			return first + " " + a.get(lookup).header.Get("X-RateLimit-Reset")
		},
		"2026-11-21T05:00:00Z 2026-11-21T05:00:00Z", "2026-11-21T17:00:00Z 2026-11-21T17:00:00Z",
	},
	"ResetForm": {
		func(a *mockserver.Assumptions) { a.ResetForm = mockserver.ResetFractionOffset },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			return a.get(lookup).header.Get("X-RateLimit-Reset")
		},
		"2026-11-21T05:00:00Z", "2026-11-21T05:00:00.000+00:00",
	},
	"QuotaRetryAfter": {
		func(a *mockserver.Assumptions) { a.QuotaRetryAfter = mockserver.RetryAfterSeconds },
		func(t *testing.T, s *mockserver.Server, a api) string {
			require.NoError(t, s.PutKey(s.APIKey, 1))
			return fmt.Sprintf("%q %q", a.get(lookup).header["Retry-After"], a.get(lookup).header["Retry-After"])
		},
		"[] []", `[] ["43200"]`,
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
	"ChargeInvalid": {
		func(a *mockserver.Assumptions) { a.ChargeInvalid = false },
		failures,
		"400:1 401:1 404:1 500:1", "400:0 401:1 404:1 500:1",
	},
	"ChargeSOLRefused": {
		func(a *mockserver.Assumptions) { a.ChargeSOLRefused = false },
		failures,
		"400:1 401:1 404:1 500:1", "400:1 401:0 404:1 500:1",
	},
	"ChargeNotFound": {
		func(a *mockserver.Assumptions) { a.ChargeNotFound = false },
		failures,
		"400:1 401:1 404:1 500:1", "400:1 401:1 404:0 500:1",
	},
	"ChargeUnavailable": {
		func(a *mockserver.Assumptions) { a.ChargeUnavailable = false },
		failures,
		"400:1 401:1 404:1 500:1", "400:1 401:1 404:1 500:0",
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
	"Unknown": {
		func(a *mockserver.Assumptions) { a.Unknown = mockserver.UnknownNull },
		func(t *testing.T, s *mockserver.Server, a api) string {
			require.NoError(t, s.PutContribuyente(mockserver.Contribuyente{RUC: "20999990098", RazonSocial: "SIN DATOS", Ubigeo: "-"}))
			o := a.get("/api/contribuyentes/20999990098").object(t)
			return fmt.Sprintf("%#v %#v %#v", o["ubigeo"], o["tipo"], o["razonSocial"])
		},
		`"-" "" "SIN DATOS"`, `<nil> <nil> "SIN DATOS"`,
	},
	"CountBlanks": {
		func(a *mockserver.Assumptions) { a.CountBlanks = true },
		func(_ *testing.T, _ *mockserver.Server, a api) string {
			return fmt.Sprint(a.get("/api/contribuyentes/search?razonSocial=+su").status, a.get("/api/contribuyentes/search?razonSocial=su").status)
		},
		"400 400", "200 400",
	},
	"SearchByWords": {
		func(a *mockserver.Assumptions) { a.SearchByWords = true },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return fmt.Sprint(found(t, a, "gloria sa"))
		},
		"[]", "[20600000005 20100000050]",
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
	"PrincipalSOL": {
		func(a *mockserver.Assumptions) {
			a.PrincipalSOL = mockserver.Refusal{Status: 403, Code: "PRINCIPAL"}
		},
		refusedSOL,
		"401 401 401 401", "403 401 401 401",
	},
	"BlockedSOL": {
		func(a *mockserver.Assumptions) {
			a.BlockedSOL = mockserver.Refusal{Status: 423, Code: "BLOQUEADO"}
		},
		refusedSOL,
		"401 401 401 401", "401 401 401 423",
	},
	"UnknownSOL": {
		func(a *mockserver.Assumptions) { a.UnknownSOL = mockserver.Refusal{Status: 404, Code: "NO_HAY"} },
		refusedSOL,
		"401 401 401 401", "401 404 401 401",
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
	"ImpossibleDateNotFound": {
		func(a *mockserver.Assumptions) { a.ImpossibleDateNotFound = true },
		func(t *testing.T, _ *mockserver.Server, a api) string {
			return shown(t, a.get("/api/tipocambio?fecha=2026-02-30")) + ", " + shown(t, a.get("/api/tipocambio?fecha=30-02-2026"))
		},
		"400 INVALID_DATE, 400 INVALID_DATE", "404 NOT_FOUND, 400 INVALID_DATE",
	},
}

// members are the names in a JSON object, in order.
func members(body string) string {
	var o map[string]string
	if json.Unmarshal([]byte(body), &o) != nil {
		return "no object of texts: " + body
	}
	return strings.Join(slices.Sorted(maps.Keys(o)), " ")
}

// found are the RUCs that a search finds.
func found(t *testing.T, a api, texto string) []string {
	t.Helper()
	r := a.get("/api/contribuyentes/search?razonSocial=" + url.QueryEscape(texto))
	require.Equal(t, 200, r.status, r.body)
	rucs := []string{}
	for _, m := range regexp.MustCompile(`"ruc":"(\d{11})"`).FindAllStringSubmatch(r.body, -1) {
		rucs = append(rucs, m[1])
	}
	return rucs
}

// failures shows what a failure of each class costs.
func failures(t *testing.T, s *mockserver.Server, a api) string {
	cost := func(r reply) string {
		q, _ := s.Quota(s.APIKey)
		defer func() { require.NoError(t, s.Reset(mockserver.PartQuotas)) }()
		return fmt.Sprintf("%d:%d", r.status, q.Used)
	}
	all := []string{
		cost(a.get("/api/contribuyentes/1")), cost(a.validar(cpe(t, "claveSol", `"mala"`))),
		cost(a.get("/api/contribuyentes/20000000001")),
	}
	s.SetSUNATDown(true)
	return strings.Join(append(all, cost(a.validar(cpe(t)))), " ")
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

// One table says what is open, and the package documentation and docs/contrato.md say the same.
func TestEachAssumptionIsInTheTables(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	contract, err := os.ReadFile("../docs/contrato.md")
	require.NoError(t, err)
	points := mockserver.OpenPoints()
	require.Len(t, points, reflect.TypeFor[mockserver.Assumptions]().NumField())
	for i, p := range points {
		assert.Equal(t, reflect.TypeFor[mockserver.Assumptions]().Field(i).Name, p.Field, "in the order of the fields")
		assert.Regexp(t, `\n//\t`+p.Field+` +[^ ].* `+regexp.QuoteMeta(p.Section)+` +`+regexp.QuoteMeta(p.Reason)+"\n", string(doc))
		assert.Regexp(t, "[.`]"+p.Field+"`", string(contract))
		assert.NotEmpty(t, p.Reason)
		for section := range strings.SplitSeq(p.Section, ", ") {
			assert.Regexp(t, `\n##+ `+regexp.QuoteMeta(section)+`[. ]`, string(contract))
		}
	}
}

func TestAssumptionsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*mockserver.Assumptions){
		"the zero value":   func(a *mockserver.Assumptions) { *a = mockserver.Assumptions{} },
		"status 200":       func(a *mockserver.Assumptions) { a.MissingKey.Status = 200 },
		"status of a user": func(a *mockserver.Assumptions) { a.UnknownSOL.Status = 302 },
		"body of a key":    func(a *mockserver.Assumptions) { a.KeyBody = "" },
		"body of a quota":  func(a *mockserver.Assumptions) { a.QuotaBody = "otro" },
		"form of a reset":  func(a *mockserver.Assumptions) { a.ResetForm = "" },
		"retry":            func(a *mockserver.Assumptions) { a.QuotaRetryAfter = "" },
		"unknown":          func(a *mockserver.Assumptions) { a.Unknown = "" },
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

// Readings change while a server serves, from the next request on.
func TestSetAssumptions(t *testing.T) {
	srv, api := start(t, mockserver.WithNow(at(t, "2026-11-20T12:00:00-05:00")), mockserver.WithFrozenClock())
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20999990098", RazonSocial: "SIN DATOS", Ubigeo: "-"}))
	first := api.get("/api/contribuyentes/20999990098")
	assert.Contains(t, first.body, `"ubigeo":"-"`)

	a := srv.Assumptions()
	assert.Equal(t, mockserver.DefaultAssumptions(), a)
	a.Unknown, a.Estados, a.Quota, a.ResetForm = mockserver.UnknownNull, mockserver.EstadosLista, 5, mockserver.ResetOffset
	require.NoError(t, srv.SetAssumptions(a))
	assert.Equal(t, a, srv.Assumptions())
	r := api.get("/api/contribuyentes/20999990098")
	assert.Contains(t, r.body, `"ubigeo":null`, "also of a record that was looked up before")
	assert.Equal(t, "5", r.header.Get("X-RateLimit-Limit"))
	assert.Equal(t, "3", remaining(r), "what was used stays used")
	assert.Equal(t, "2026-11-21T05:00:00+00:00", r.header.Get("X-RateLimit-Reset"))

	zone := a
	zone.ResetZone = time.UTC
	require.NoError(t, srv.SetAssumptions(zone))
	r = api.get(lookup)
	assert.Equal(t, "4", remaining(r), "another reset, and nobody has used anything")
	assert.Equal(t, "2026-11-21T00:00:00+00:00", r.header.Get("X-RateLimit-Reset"))
	a.ResetRolling = true
	require.NoError(t, srv.SetAssumptions(a))
	assert.Equal(t, "4", remaining(api.get(lookup)), "and another")

	_, err := mockserver.Start(mockserver.WithAssumptions(mockserver.Assumptions{}))
	require.Error(t, err)
	loose, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAssumptions(a))
	require.NoError(t, err)
	require.ErrorContains(t, loose.SetAssumptions(mockserver.Assumptions{}), "Assumptions.MissingKey")
	assert.Equal(t, a, loose.Assumptions())

	require.NoError(t, srv.Reset(mockserver.PartQuotas))
	assert.Equal(t, a, srv.Assumptions())
	require.NoError(t, srv.Reset(mockserver.PartData))
	assert.Equal(t, mockserver.DefaultAssumptions(), srv.Assumptions())
	assert.Equal(t, "1000", api.get(lookup).header.Get("X-RateLimit-Limit"))
}

// Every request is answered by one reading, whole.
func TestSetAssumptionsUnderLoad(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	one, other := mockserver.DefaultAssumptions(), mockserver.DefaultAssumptions()
	other.InvalidKey, other.KeyBody = mockserver.Refusal{Status: 403, Code: "OTRA"}, mockserver.ErrorBodyMessage
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			assert.NoError(t, srv.SetAssumptions([]mockserver.Assumptions{one, other}[i%2]))
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 50 {
				assert.Equal(t, 200, api.get(lookup).status)
				r := api.withKey("x").get(lookup)
				assert.Equal(t, map[int]string{401: "code error", 403: "message"}[r.status], members(r.body))
			}
		})
	}
	wg.Wait()
}

// A refused SOL user is one whatever its status.
func TestChargeSOLRefusedWhateverTheStatus(t *testing.T) {
	for _, status := range []int{401, 403} {
		for _, charged := range []bool{true, false} {
			a := mockserver.DefaultAssumptions()
			a.ChargeSOLRefused, a.ChargeInvalid = charged, !charged
			a.UnknownSOL = mockserver.Refusal{Status: status, Code: "X"}
			srv, api := start(t, mockserver.WithAssumptions(a))
			require.Equal(t, status, api.validar(cpe(t, "usuarioSol", `"NADIE"`)).status)
			want := 0
			if charged {
				want = 1
			}
			srv.AssertSpent(t, mockserver.Filter{}, want)
		}
	}
}
