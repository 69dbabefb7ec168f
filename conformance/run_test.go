package conformance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// theKey and theClave are those of the mock in these tests: no text may show them.
const (
	theKey   = "clave/API-de_la+prueba&<1>"
	theClave = `cl"av\e SOL ñ%'7`
)

// receipts are of the mock's own data, one of each codigo and type.
var receipts = []Comprobante{
	{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"},
	{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 124, Codigo: "2"},
	{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: "4"},
	{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 126, Codigo: "98"},
	{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 127, Codigo: "99"},
	{RUCEmisor: "20100070970", Tipo: "03", Serie: "B001", Numero: 4567, Codigo: "0"},
	{RUCEmisor: "20100070970", Tipo: "07", Serie: "F001", Numero: 15, Codigo: "0"},
	{RUCEmisor: "20331898008", Tipo: "08", Serie: "FND1", Numero: 8, Codigo: "0"},
}

var operations = []operation{lookup, search, validation, rate}

const solUser, solRUC = "CONFORME", "20131312955"

// fullTarget is a target that all subtests run against.
func fullTarget(url string) Target {
	return Target{
		BaseURL: url, APIKey: theKey, WrongClave: true,
		CPE: &CPE{receipts, UsuarioSOL{RUC: solRUC, Usuario: solUser, Clave: theClave}},
	}
}

// newMock returns a mock that a fullTarget is right for.
func newMock(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	return mockserver.New(t, append([]mockserver.Option{
		mockserver.WithoutSocket(), mockserver.WithAPIKey(theKey),
		mockserver.WithUsuariosSOL(mockserver.SOL{RUC: solRUC, Usuario: solUser, Clave: theClave}),
	}, options...)...)
}

// direct is a transport that calls a handler.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	header := http.Header{}
	for name, values := range r.Header { // as they come from a connection
		header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header = header
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// examine checks a handler without a socket.
func examine(t *testing.T, handler http.Handler, target Target) ([]*verdict, []Observation) {
	t.Helper()
	target.Transport = direct{handler}
	e, err := newExamination(target)
	require.NoError(t, err)
	e.wait = patience{time.Minute, time.Minute} // for a machine that is busy
	return e.run(context.Background())
}

// failing are the subtests that fail, with what they say.
func failing(results []*verdict) map[string][]string {
	failed := map[string][]string{}
	for _, r := range results {
		if len(r.failures) > 0 {
			failed[r.name] = r.failures
		}
	}
	return failed
}

// skipping are the subtests that say nothing, with the reason.
func skipping(results []*verdict) map[string]string {
	skipped := map[string]string{}
	for _, r := range results {
		if r.skipped != "" {
			skipped[r.name] = r.skipped
		}
	}
	return skipped
}

func TestTheMockConforms(t *testing.T) {
	srv := newMock(t)
	results, _ := examine(t, srv, fullTarget("http://mock.invalid"))
	assert.Empty(t, failing(results))
	assert.Empty(t, skipping(results), "with receipts and -wrong-clave nothing is left out")
	assert.Equal(t, 1, countOf(srv.Requests(), func(r mockserver.Request) bool { return r.SOL != "" && r.SOL != mockserver.SOLAccepted }))
}

// A server on loopback that takes its time answers all the same.
func TestASlowServerConforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(26 * 365 * 24 * time.Hour) // the clock of a bubble begins in 2000, before all rates
		mock := newMock(t)
		target := fullTarget("http://127.0.0.1:8080")
		target.Transport = direct{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			mock.ServeHTTP(w, r)
		})}
		e, err := newExamination(target)
		require.NoError(t, err)
		results, _ := e.run(t.Context())
		assert.Empty(t, failing(results))
	})
}

// allChecks are those of a fullTarget.
func allChecks(t *testing.T) []check {
	t.Helper()
	e, err := newExamination(fullTarget("http://mock.invalid"))
	require.NoError(t, err)
	return inOrder(e.plan)
}

func TestSubtestsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range allChecks(t) {
		assert.False(t, seen[c.name], c.name)
		seen[c.name] = true
		assert.Regexp(t, `^[1-9](\.[1-9])?/\S`, c.name)
	}
}

// A target that is given has no clave of ours: what needs one is skipped, and says so.
func TestWithoutReceiptsNoClaveIsSent(t *testing.T) {
	srv := newMock(t)
	target := fullTarget("http://mock.invalid")
	target.CPE, target.WrongClave = nil, false
	results, _ := examine(t, srv, target)
	assert.Empty(t, failing(results))
	skipped := skipping(results)
	for _, name := range []string{"2.3/serie is required", "2.4/codigo 0 is Aceptado", "4.3/a malformed rucEmisor is a 400", "5.1/a validation with a bad key is refused"} {
		assert.Contains(t, skipped[name], "-cpe", name)
	}
	assert.NotContains(t, skipped, "2.3/claveSol is required")
	assert.Equal(t, 1, countOf(srv.Requests(), func(r mockserver.Request) bool { return r.Op == mockserver.OpValidar }))
	assert.Zero(t, countOf(srv.Requests(), func(r mockserver.Request) bool { return r.SOL != "" }), "none reached the tax authority")
}

// Where the quota ends, the failures say so.
func TestAQuotaThatEnds(t *testing.T) {
	results, _ := examine(t, newMock(t, mockserver.WithQuota(20)), fullTarget("http://mock.invalid"))
	failed := failing(results)
	require.Contains(t, failed, "4.2/limit 0 is a 400")
	assert.Contains(t, failed["4.2/limit 0 is a 400"][0], "the status is 429: want 400")
	assert.NotContains(t, failed, "4.1/a taxpayer is an object")
}

func countOf[T any](list []T, is func(T) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// A failure has the rule with its section, what was sent and what came.
func TestAFailureSaysWhatCame(t *testing.T) {
	breaks := answering(validation, ofCodigo("2"), setMember("codigo", "2"))
	results, _ := examine(t, breaks(newMock(t)), fullTarget("http://mock.invalid"))
	said := failing(results)["2.4/codigo 2 is Anulado"][0]
	assert.Contains(t, said, "docs/contract.md, 2.4: codigo 2 is Anulado\nsent:  POST /api/cpe/validar {")
	assert.Contains(t, said, "\ncame:  200 application/json {\"codigo\":2,")
	assert.Contains(t, said, "\nwrong: codigo is 2 and estado \"Anulado\": want \"2\", as -cpe has it")
}

// A clave of -cpe that is wrong is sent once too, asked for or not.
func TestAClaveThatIsRefusedIsNotSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refuses func(*reply)
		wanted  bool
	}{
		"the same, and a wrong one asked for": {func(*reply) {}, true},
		"with another code":                   {setMember("code", `"OTRO"`), false},
		"with another status":                 {status(400), false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newMock(t)
			target := fullTarget("http://mock.invalid")
			target.CPE = &CPE{receipts, UsuarioSOL{RUC: solRUC, Usuario: solUser, Clave: "la-de-antes"}}
			target.WrongClave = c.wanted
			results, _ := examine(t, answering(validation, wrongSOL, c.refuses)(srv), target)
			assert.Equal(t, 1, countOf(srv.Requests(), func(r mockserver.Request) bool { return r.SOL != "" }))
			failed, skipped := failing(results), skipping(results)
			assert.Contains(t, failed["2.4/codigo 0 is Aceptado"][0], "want 200")
			for _, name := range []string{"2.4/codigo 2 is Anulado", "2.3/serie is required", "2.3/another tipoComprobante is not answered with 200",
				"5.1/a validation with a bad key is refused"} {
				assert.NotContains(t, failed, name)
				assert.Contains(t, skipped[name], "the clave of -cpe was refused", name)
			}
			assert.NotContains(t, failed, "4.3/a wrong clave is a 401 INVALID_SOL_CREDENTIALS")
			assert.NotContains(t, failed, "2.3/claveSol is required")
			assert.NotContains(t, skipped, "2.3/claveSol is required", "one is sent without a clave")
		})
	}
}
