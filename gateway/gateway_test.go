package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/gateway"
	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tienda = "clave-de-la-tienda-1"
	cron   = "clave-del-cron-0001"
	lookup = "/api/contribuyentes/20131312955"
	search = "/api/contribuyentes/search"
	rate   = "/api/tipocambio"
	cpe    = "/api/cpe/validar"
)

var keys = []gateway.Key{{Name: "tienda", Key: tienda}, {Name: "cron", Key: cron, Reserve: 997}}

// served is a gateway in front of a mock, and what it observed.
type served struct {
	*gateway.Gateway
	mock  *mockserver.Server
	mu    sync.Mutex
	calls []gateway.Call
}

func serve(t *testing.T, mock *mockserver.Server, registro gateway.Registro, opts ...fiscope.Option) *served {
	t.Helper()
	s := &served{mock: mock}
	var client *fiscope.Client
	if mock != nil {
		client = mock.Client(append([]fiscope.Option{fiscope.WithMaxRetries(0)}, opts...)...)
		t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
	}
	var err error
	s.Gateway, err = gateway.New(client, gateway.Options{Keys: keys, Registro: registro, Observe: func(_ context.Context, c gateway.Call) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, c)
	}})
	require.NoError(t, err)
	return s
}

// ask makes a call of the shop; headers are pairs.
func (s *served) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("X-API-KEY", tienda)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// sent returns a header as it is spelt, which net/http may spell otherwise.
func sent(w *httptest.ResponseRecorder, name string) []string { return w.Header()[name] }

// isError checks an error's status, code and shape.
func isError(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var body map[string]string
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body)
	assert.Equal(t, status, w.Code, w.Body)
	assert.Equal(t, code, body["code"])
	assert.NotEmpty(t, body["error"])
	assert.Len(t, body, 2)
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	assert.Empty(t, w.Header()["Fiscope-Source"])
	for _, secret := range []string{tienda, cron, mockserver.DefaultAPIKey, mockserver.ClaveSOL} {
		assert.NotContains(t, w.Body.String(), secret)
	}
}

// receipt is the body of a validation, with some members changed ("" leaves one out).
func receipt(changes ...string) string {
	members := map[string]string{
		"rucEmisor": `"20100070970"`, "tipoComprobante": `"01"`, "serie": `"F001"`, "numero": "123",
		"rucSolicitante": `"` + mockserver.RUCSolicitante + `"`, "usuarioSol": `"` + mockserver.UsuarioSOL + `"`, "claveSol": `"` + mockserver.ClaveSOL + `"`,
	}
	var parts []string
	for i := 0; i < len(changes); i += 2 {
		members[changes[i]] = changes[i+1]
	}
	for name, value := range members {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%q: %s", name, value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestAnswersAsTheContractWritesThem(t *testing.T) {
	s := serve(t, mockserver.New(t, mockserver.WithContribuyentes(mockserver.Contribuyente{
		RUC: "20999990097", RazonSocial: `PEÑA & "HIJOS" <S.A.>`, Estado: "ACTIVO", Condicion: "HABIDO", Direccion: "AV. UNO 1",
		Ubigeo: "150101", Departamento: "LIMA", Provincia: "LIMA", Distrito: "LIMA", Tipo: "SOCIEDAD ANONIMA",
		ActividadEconomica: "1050", FechaInscripcion: "2020-01-02", FechaInicioActividades: "2020-02-03",
	})), nil)
	for name, c := range map[string]struct{ method, target, body, want string }{
		"a taxpayer": {"GET", "/api/contribuyentes/20999990097", "", `{"ruc":"20999990097","razonSocial":"PEÑA & \"HIJOS\" <S.A.>","estado":"ACTIVO","condicion":"HABIDO",` +
			`"direccion":"AV. UNO 1","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA",` +
			`"tipo":"SOCIEDAD ANONIMA","actividadEconomica":"1050","fechaInscripcion":"2020-01-02","fechaInicioActividades":"2020-02-03"}`},
		"a search":  {"GET", search + "?razonSocial=pe%C3%B1a+%26&limit=01", "", `[{"ruc":"20999990097","razonSocial":"PEÑA & \"HIJOS\" <S.A.>","estado":"ACTIVO","condicion":"HABIDO"}]`},
		"no match":  {"GET", search + "?razonSocial=zzzz", "", `[]`},
		"a rate":    {"GET", rate + "?fecha=2024-01-17", "", ""},
		"a receipt": {"POST", cpe, receipt(), `{"codigo":"0","mensaje":"El comprobante existe y está aceptado.","estado":"Aceptado","esValido":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.ask(c.method, c.target, c.body)
			require.Equal(t, 200, w.Code, w.Body)
			if name == "a rate" { // the sample data decides which
				assert.Regexp(t, `^\{"compra":3\.\d{3},"venta":3\.\d{3},"moneda":"USD","fecha":"2024-01-17","origen":"SBS"\}\n$`, w.Body.String())
			} else {
				assert.Equal(t, c.want+"\n", w.Body.String())
			}
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			assert.Equal(t, []string{"service"}, w.Header()["Fiscope-Source"])
			assert.Empty(t, w.Header()["Age"])
		})
	}
}

// What can be known without asking is refused without asking, in the order of the contract.
func TestInvalidInput(t *testing.T) {
	s := serve(t, mockserver.New(t), nil)
	big := receipt("serie", `"`+strings.Repeat("F", 64<<10)+`"`)
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		code                 string
	}{
		"10 digits":                {"GET", "/api/contribuyentes/2013131295", "", 400, "INVALID_RUC"},
		"an escaped RUC":           {"GET", "/api/contribuyentes/2013131295%20", "", 400, "INVALID_RUC"},
		"short text":               {"GET", search + "?razonSocial=%C3%B1a", "", 400, "SEARCH_TOO_SHORT"},
		"short text, bad limit":    {"GET", search + "?razonSocial=ab&limit=99", "", 400, "SEARCH_TOO_SHORT"},
		"limit 51":                 {"GET", search + "?razonSocial=abc&limit=51", "", 400, "INVALID_LIMIT"},
		"a signed limit":           {"GET", search + "?razonSocial=abc&limit=%2B5", "", 400, "INVALID_LIMIT"},
		"limit twice":              {"GET", search + "?razonSocial=abc&limit=5&limit=6", "", 400, "INVALID_LIMIT"},
		"text twice":               {"GET", search + "?razonSocial=abc&razonSocial=def", "", 400, "INVALID_FIELD"},
		"a text in Latin-1":        {"GET", search + "?razonSocial=PE%D1A", "", 400, "INVALID_FIELD"},
		"a bad escape":             {"GET", search + "?razonSocial=100%", "", 400, "INVALID_FIELD"},
		"a date with slashes":      {"GET", rate + "?fecha=05/01/2024", "", 400, "INVALID_DATE"},
		"30 February":              {"GET", rate + "?fecha=2024-02-30", "", 400, "INVALID_DATE"},
		"an empty date":            {"GET", rate + "?fecha=", "", 400, "INVALID_DATE"},
		"two dates":                {"GET", rate + "?fecha=2024-01-17&fecha=2024-01-18", "", 400, "INVALID_DATE"},
		"a date that net/url lost": {"GET", rate + "?fecha=2024-01-17;x", "", 400, "INVALID_DATE"},
		"no path":                  {"GET", "/api/contribuyente/20131312955", "", 404, "UNKNOWN_PATH"},
		"a slash at the end":       {"GET", lookup + "/", "", 404, "UNKNOWN_PATH"},
		"no RUC":                   {"GET", "/api/contribuyentes/", "", 404, "UNKNOWN_PATH"},
		"another method":           {"POST", lookup, "", 405, "METHOD_NOT_ALLOWED"},
		"a GET of a validation":    {"GET", cpe, "", 405, "METHOD_NOT_ALLOWED"},
		"health, posted":           {"POST", "/healthz", "", 405, "METHOD_NOT_ALLOWED"},
		"no JSON":                  {"POST", cpe, "rucEmisor=20100070970", 400, "INVALID_JSON"},
		"two objects":              {"POST", cpe, receipt() + receipt(), 400, "INVALID_JSON"},
		"null":                     {"POST", cpe, "null", 400, "INVALID_JSON"},
		"a clave in Latin-1":       {"POST", cpe, receipt("claveSol", "\"contrase\xf1a\""), 400, "INVALID_JSON"},
		"too large":                {"POST", cpe, big, 413, "BODY_TOO_LARGE"},
		"an empty field":           {"POST", cpe, receipt("serie", `""`), 400, "MISSING_FIELDS"},
		"null in a field":          {"POST", cpe, receipt("numero", "null"), 400, "MISSING_FIELDS"},
		"an empty clave":           {"POST", cpe, receipt("claveSol", `" "`), 400, "MISSING_FIELDS"},
		"no credentials of ours":   {"POST", cpe, receipt("rucSolicitante", "", "usuarioSol", "", "claveSol", ""), 400, "MISSING_FIELDS"},
		"missing and mistyped":     {"POST", cpe, receipt("serie", "", "numero", `"1"`), 400, "MISSING_FIELDS"},
		"a number in quotes":       {"POST", cpe, receipt("numero", `"123"`), 400, "INVALID_FIELD"},
		"a decimal":                {"POST", cpe, receipt("numero", "1.5"), 400, "INVALID_FIELD"},
		"another kind":             {"POST", cpe, receipt("tipoComprobante", `"02"`), 400, "INVALID_FIELD"},
		"a series":                 {"POST", cpe, receipt("serie", `"F-01"`), 400, "INVALID_FIELD"},
		"the issuer":               {"POST", cpe, receipt("rucEmisor", `"2010007097"`), 400, "INVALID_RUC"},
		"the caller":               {"POST", cpe, receipt("rucSolicitante", `"2013131295"`), 400, "INVALID_RUC"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.ask(c.method, c.target, c.body)
			isError(t, w, c.status, c.code)
			if c.status == 405 {
				assert.Equal(t, map[bool]string{false: "GET", true: "POST"}[c.target == cpe], w.Header().Get("Allow"))
			}
		})
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonl"} {
		isError(t, s.ask("POST", cpe, receipt(), "Content-Type", media), 415, "UNSUPPORTED_MEDIA_TYPE")
	}
	s.mock.AssertCalls(t, mockserver.Filter{}, 0)
}

// A wrong key is refused before all else.
func TestKeys(t *testing.T) {
	s := serve(t, mockserver.New(t), nil)
	for name, given := range map[string][]string{
		"none": nil, "empty": {""}, "unknown": {"clave-de-otro-00001"}, "the service's": {mockserver.DefaultAPIKey},
		"two": {tienda, tienda}, "two in one": {tienda + ", " + tienda}, "longer": {tienda + "1"}, "a prefix": {tienda[:19]},
	} {
		t.Run(name, func(t *testing.T) {
			for _, target := range []string{lookup, "/nada", "/healthz"} {
				r := httptest.NewRequest(http.MethodPut, target, nil)
				r.Header["X-Api-Key"] = given
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				isError(t, w, 401, "UNAUTHORIZED")
				assert.Empty(t, sent(w, "X-RateLimit-Limit"))
			}
		})
	}
	s.mock.AssertCalls(t, mockserver.Filter{}, 0)

	require.NoError(t, s.SetKeys([]gateway.Key{{Name: "otra", Key: "clave-de-otra-00001"}}))
	isError(t, s.ask("GET", lookup, ""), 401, "UNAUTHORIZED")
	assert.Equal(t, 200, s.ask("GET", lookup, "", "X-API-KEY", "clave-de-otra-00001").Code)

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	assert.Equal(t, 200, w.Code)
	s.mock.AssertCalls(t, mockserver.Filter{}, 1)
}

func TestWrongKeysAreRefused(t *testing.T) {
	client := mockserver.New(t).Client()
	for name, keys := range map[string][]gateway.Key{
		"none":                 nil,
		"no name":              {{Key: tienda}},
		"an empty key":         {{Name: "a"}},
		"blanks":               {{Name: "a", Key: tienda + "\n"}},
		"two of a name":        {{Name: "a", Key: tienda}, {Name: "a", Key: cron}},
		"two of a key":         {{Name: "a", Key: tienda}, {Name: "b", Key: tienda}},
		"a reserve of below 0": {{Name: "a", Key: tienda, Reserve: -1}},
	} {
		g, err := gateway.New(client, gateway.Options{Keys: keys})
		assert.Nil(t, g, name)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), tienda)
	}
	_, err := gateway.New(nil, gateway.Options{Keys: keys})
	require.Error(t, err)
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "key", keys[0], "keys", keys)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s %q", keys, keys[0], keys, &keys[0], keys)+logged.String(), tienda)
}

func TestFailuresOfTheService(t *testing.T) {
	for name, c := range map[string]struct {
		method, target string
		step           mockserver.Step
		status         int
		code           string
	}{
		"no such taxpayer":        {"GET", "/api/contribuyentes/20999999999", mockserver.OK, 404, "NOT_FOUND"},
		"a Saturday":              {"GET", rate + "?fecha=2024-01-20", mockserver.OK, 404, "NOT_FOUND"},
		"a short search":          {"GET", search + "?razonSocial=abc", mockserver.Answer(400, `{"error":"x","code":"SEARCH_TOO_SHORT"}`), 400, "SEARCH_TOO_SHORT"},
		"our key":                 {"GET", lookup, mockserver.Answer(401, `{"error":"x","code":"INVALID_API_KEY"}`), 502, "UPSTREAM_UNAUTHORIZED"},
		"a clave":                 {"POST", cpe, mockserver.Answer(401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), 401, "INVALID_SOL_CREDENTIALS"},
		"HTML":                    {"GET", lookup, mockserver.HTML200, 502, "UPSTREAM_MALFORMED"},
		"another 4xx":             {"GET", lookup, mockserver.Answer(418, `{"error":"x","code":"TETERA"}`), 502, "UPSTREAM_REFUSED"},
		"away":                    {"GET", lookup, mockserver.ResetBefore, 503, "UNAVAILABLE"},
		"a 500":                   {"GET", lookup, mockserver.Status(500), 503, "UNAVAILABLE"},
		"a 500 of a validation":   {"POST", cpe, mockserver.SUNATDown, 500, "UNAVAILABLE"},
		"too fast":                {"GET", lookup, mockserver.Throttle429, 429, "QUOTA_EXCEEDED"},
		"a clave in a 4xx's text": {"POST", cpe, mockserver.Answer(418, `{"error":"no: `+mockserver.ClaveSOL+`","code":"`+mockserver.ClaveSOL+`"}`), 502, "UPSTREAM_REFUSED"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, mockserver.New(t), nil)
			s.mock.Fault(mockserver.Match{}, c.step)
			w := s.ask(c.method, c.target, receipt())
			isError(t, w, c.status, c.code)
			assert.NotContains(t, w.Body.String(), "TETERA")
		})
	}
}

func TestTheQuota(t *testing.T) {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 500, fiscope.Lima)
	s := serve(t, mockserver.New(t, mockserver.WithQuota(1000), mockserver.WithNow(noon), mockserver.WithFrozenClock()), nil)
	for i, remaining := range []string{"999", "998", "997"} {
		w := s.ask("GET", lookup, "", "X-API-KEY", cron)
		require.Equal(t, 200, w.Code, i)
		// As the contract spells them: net/http would write X-Ratelimit-Limit.
		assert.Equal(t, []string{"1000"}, sent(w, "X-RateLimit-Limit"))
		assert.Equal(t, []string{remaining}, sent(w, "X-RateLimit-Remaining"))
		assert.Equal(t, []string{"2026-11-21T05:00:00Z"}, sent(w, "X-RateLimit-Reset"))
	}
	w := s.ask("GET", lookup, "", "X-API-KEY", cron) // it leaves 997 to the others
	isError(t, w, 429, "QUOTA_EXCEEDED")
	assert.Equal(t, "43200", w.Header().Get("Retry-After"), "rounded up, to the reset")
	assert.Equal(t, []string{"997"}, sent(w, "X-RateLimit-Remaining"))
	assert.Equal(t, 200, s.ask("GET", lookup, "").Code)
	s.mock.AssertSpent(t, mockserver.Filter{}, 4)
}

// A rate that may still come says when to ask again.
func TestARateThatIsNotPublished(t *testing.T) {
	for name, c := range map[string]struct {
		now, fecha, wait string
	}{
		"today, at noon":     {"2026-11-20T12:00:00-05:00", "2026-11-20", "18000"},
		"today, by default":  {"2026-11-20T12:00:00-05:00", "", "18000"},
		"a day ahead":        {"2026-11-19T17:00:00-05:00", "2026-11-20", "86400"},
		"late":               {"2026-11-20T17:00:01-05:00", "2026-11-20", "900"},
		"ten days late":      {"2026-11-30T16:59:00-05:00", "2026-11-20", "900"},
		"it will not come":   {"2026-11-30T17:00:01-05:00", "2026-11-20", ""},
		"a Sunday":           {"2026-11-20T12:00:00-05:00", "2026-11-22", ""},
		"Sunday, by default": {"2026-11-22T12:00:00-05:00", "", ""},
		"a holiday":          {"2026-11-20T12:00:00-05:00", "2026-12-08", ""},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, c.now)
			require.NoError(t, err)
			mock := mockserver.New(t, mockserver.WithNow(now), mockserver.WithFrozenClock())
			require.NoError(t, mock.DeleteTipoCambio("2026-11-20"))
			s := serve(t, mock, nil, fiscope.WithCache(fiscope.CachePolicy{}))
			target := rate
			if c.fecha != "" {
				target += "?fecha=" + c.fecha
			}
			for range 2 { // the second from the cache
				w := s.ask("GET", target, "")
				isError(t, w, 404, "NOT_FOUND")
				assert.Equal(t, c.wait, w.Header().Get("Retry-After"))
			}
			mock.AssertSpent(t, mockserver.Filter{}, 1)
		})
	}
}

func TestSources(t *testing.T) {
	mock := mockserver.New(t)
	s := serve(t, mock, registry{}, fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour}))
	from := func(target, source string, least int) {
		t.Helper()
		w := s.ask("GET", target, "")
		require.Equal(t, 200, w.Code, w.Body)
		assert.Equal(t, source, w.Header().Get("Fiscope-Source"))
		age := -1
		_, _ = fmt.Sscan(w.Header().Get("Age"), &age)
		assert.GreaterOrEqual(t, age, least)
		assert.LessOrEqual(t, age, least+60)
	}
	from(lookup, "service", -1)
	require.NoError(t, mock.Advance(90*time.Second))
	from(lookup, "cache", 90)
	require.NoError(t, mock.Advance(13*time.Hour))
	mock.Fault(mockserver.Match{}, mockserver.ResetBefore)
	from(lookup, "stale", 90+13*3600)
	require.NoError(t, mock.SetNow(time.Date(2026, time.November, 21, 1, 0, 0, 0, fiscope.Lima)))
	from("/api/contribuyentes/20100070970", "registry", 25*3600)
	isError(t, s.ask("GET", search+"?razonSocial=gloria", ""), 503, "UNAVAILABLE") // the service's
	isError(t, s.ask("GET", "/api/contribuyentes/20999999999", ""), 503, "UNAVAILABLE")
}

// registry has one taxpayer.
type registry struct{}

var errDamaged = errors.New("damaged")

func (registry) Contribuyente(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	switch ruc {
	case "20100070970":
		return &fiscope.Contribuyente{RUC: ruc, RazonSocial: "DEL PADRÓN", Estado: "ACTIVO", Condicion: "HABIDO"}, fiscope.NewFecha(2026, time.November, 20), nil
	case "20100000050":
		return nil, fiscope.Fecha{}, errDamaged
	}
	return nil, fiscope.Fecha{}, fiscope.ErrNotFound
}

func (r registry) Buscar(ctx context.Context, texto string, limite int) ([]fiscope.Contribuyente, error) {
	switch {
	case texto == "dañado":
		return nil, errDamaged
	case texto != "padrón" || limite != 10:
		return nil, nil
	}
	c, _, err := r.Contribuyente(ctx, "20100070970")
	return []fiscope.Contribuyente{*c}, err
}

func TestWithoutAProvider(t *testing.T) {
	s := serve(t, nil, registry{})
	for target, want := range map[string]string{
		"/api/contribuyentes/20100070970": `{"ruc":"20100070970","razonSocial":"DEL PADRÓN","estado":"ACTIVO","condicion":"HABIDO",` +
			`"direccion":"","ubigeo":"","departamento":"","provincia":"","distrito":"","tipo":"","actividadEconomica":"","fechaInscripcion":"","fechaInicioActividades":""}`,
		search + "?razonSocial=+padr%C3%B3n+": `[{"ruc":"20100070970","razonSocial":"DEL PADRÓN","estado":"ACTIVO","condicion":"HABIDO"}]`,
		search + "?razonSocial=nadie":         `[]`,
	} {
		w := s.ask("GET", target, "")
		assert.Equal(t, 200, w.Code)
		assert.Equal(t, want+"\n", w.Body.String())
		assert.Equal(t, []string{"registry"}, w.Header()["Fiscope-Source"])
		assert.Equal(t, want != "[]", w.Header().Get("Age") != "")
		assert.Empty(t, sent(w, "X-RateLimit-Limit"))
	}
	for target, want := range map[string]struct {
		status int
		code   string
	}{
		"/api/contribuyentes/20999999999":    {404, "NOT_FOUND"},
		"/api/contribuyentes/2099999999":     {400, "INVALID_RUC"},
		"/api/contribuyentes/20100000050":    {503, "UNAVAILABLE"},
		search + "?razonSocial=ab":           {400, "SEARCH_TOO_SHORT"},
		search + "?razonSocial=abc&limit=51": {400, "INVALID_LIMIT"},
		search + "?razonSocial=da%C3%B1ado":  {503, "UNAVAILABLE"},
		rate + "?fecha=2024-01-17":           {503, "NO_PROVIDER"},
	} {
		isError(t, s.ask("GET", target, ""), want.status, want.code)
	}
	isError(t, s.ask("POST", cpe, receipt()), 503, "NO_PROVIDER")
}

// A validation without credentials uses the client's; the clave then lives in one place.
func TestOwnCredentials(t *testing.T) {
	mock := mockserver.New(t)
	s := serve(t, mock, nil, fiscope.WithSOL(fiscope.CredencialesSOL{
		RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
	}))
	for _, none := range []string{"", "null", `""`} {
		assert.Equal(t, 200, s.ask("POST", cpe, receipt("rucSolicitante", none, "usuarioSol", none, "claveSol", none)).Code)
	}
	isError(t, s.ask("POST", cpe, receipt("claveSol", "")), 400, "MISSING_FIELDS")
	incomplete := s.ask("POST", cpe, receipt("serie", "", "rucSolicitante", "", "usuarioSol", "", "claveSol", ""))
	isError(t, incomplete, 400, "MISSING_FIELDS")
	assert.NotContains(t, incomplete.Body.String(), "Sol")
	isError(t, s.ask("POST", cpe, receipt("rucEmisor", `"1"`, "rucSolicitante", "", "usuarioSol", "", "claveSol", "")), 400, "INVALID_RUC")
	mock.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 3)
}

// One wrong clave from 200 requests at once costs one post, and is blocked from then on.
func TestAWrongClave(t *testing.T) {
	s := serve(t, mockserver.New(t), nil)
	wrong := receipt("claveSol", `"otra-clave"`)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() { isError(t, s.ask("POST", cpe, wrong), 401, "INVALID_SOL_CREDENTIALS") })
	}
	all.Wait()
	w := s.ask("POST", cpe, wrong)
	isError(t, w, 401, "INVALID_SOL_CREDENTIALS")
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	s.mock.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
}

// 500 equal lookups at once cost one query.
func TestEqualLookups(t *testing.T) {
	s := serve(t, mockserver.New(t), nil, fiscope.WithCache(fiscope.CachePolicy{}))
	var all sync.WaitGroup
	for range 500 {
		all.Go(func() { assert.Equal(t, 200, s.ask("GET", lookup, "").Code) })
	}
	all.Wait()
	s.mock.AssertSpent(t, mockserver.Filter{}, 1)
}

// A call whose context ends, as at a shutdown, is answered 503.
func TestACallThatIsCut(t *testing.T) {
	s := serve(t, mockserver.New(t), nil)
	held := s.mock.Fault(mockserver.Match{}, mockserver.Hold())
	defer held.Release()
	ctx, cut := context.WithCancel(t.Context())
	r := httptest.NewRequest(http.MethodGet, lookup, nil).WithContext(ctx)
	r.Header.Set("X-API-KEY", tienda)
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		s.ServeHTTP(w, r)
	}()
	_, err := s.mock.WaitRequests(t.Context(), mockserver.Filter{}, 1)
	require.NoError(t, err)
	cut()
	<-done
	isError(t, w, 503, "UNAVAILABLE")
}

func TestWhatIsObserved(t *testing.T) {
	s := serve(t, mockserver.New(t), nil)
	s.ask("GET", lookup, "", "X-Request-ID", "pedido-1", "X-API-KEY", cron)
	s.ask("POST", cpe, receipt("claveSol", `"otra"`), "X-Request-ID", strings.Repeat("x", 65))
	s.ask("GET", "/api/contribuyentes/"+tienda, "", "X-Request-ID", "pedido\n2")
	s.ask("GET", "/nada", "", "X-API-KEY", "otra")
	s.ask("GET", "/healthz", "")
	for i := range s.calls {
		assert.Positive(t, s.calls[i].Duration)
		s.calls[i].Duration = 0
	}
	assert.Equal(t, []gateway.Call{
		{App: "cron", Op: "consultar", RUC: "20…955", Status: 200, Source: "service", RequestID: "pedido-1"},
		{App: "tienda", Op: "validar", RUC: "20…970", Status: 401, Code: "INVALID_SOL_CREDENTIALS"},
		{App: "tienda", Op: "consultar", Status: 400, Code: "INVALID_RUC"},
		{Status: 401, Code: "UNAUTHORIZED"},
	}, s.calls)
}
