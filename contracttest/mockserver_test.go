package contracttest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// roundTrip uses net/http and nothing of the SDK, and follows no redirect.
func roundTrip(t *testing.T, req *http.Request) reply {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true} // leaves no goroutine behind
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return reply{resp.StatusCode, resp.Header, body}
}

// What TestAServerByTheDocument does not reach: other states of the server, and requests that are no operation of the
// contract. They have the error body of docs/contract.md, 2.6, too.
func TestMockServersOtherErrorsConform(t *testing.T) {
	c := loadContract(t)
	afternoon := mockserver.WithNow(time.Date(2026, time.November, 20, 16, 0, 0, 0, fiscope.Lima))
	const key = mockserver.DefaultAPIKey
	for name, e := range map[string]struct {
		opt                       mockserver.Option
		method, target, key, body string
		status                    int
	}{
		"a rate before 17:00":   {afternoon, "GET", "/api/tipocambio", key, "", 404},
		"the authority is down": {mockserver.WithSUNATDown(), "POST", cpePath, key, readSample(t, requestSample), 500},
		"a spent quota":         {mockserver.WithQuota(0), "GET", lookupPath, key, "", 429},
		"no key":                {afternoon, "GET", lookupPath, "", "", 401},
		"a receipt not JSON":    {afternoon, "POST", cpePath, key, "rucEmisor=1", 400},
		"another path":          {afternoon, "GET", "/api/contribuyente/20131312955", key, "", 404},
		"root":                  {afternoon, "GET", "/", key, "", 404},
		"another method":        {afternoon, "DELETE", lookupPath, key, "", 405},
		"GET of a receipt":      {afternoon, "GET", cpePath, key, "", 405},
	} {
		t.Run(name, func(t *testing.T) {
			req := newRequest(t, e.method, mockserver.New(t, e.opt).URL+e.target, e.key, e.body)
			got := roundTrip(t, req)
			require.Equal(t, e.status, got.status, "%s", got.body)
			if _, err := c.route(req); err == nil {
				require.NoError(t, c.checkReply(req, got))
			}
			assert.NoError(t, c.checkError(got))
			// JSON has no charset parameter (RFC 8259, 11), and some clients compare the whole text.
			assert.Equal(t, []string{"application/json"}, got.header["Content-Type"])
		})
	}
}

// defaultData reads one of the files that the mock server comes with.
func defaultData[T any](t *testing.T, name string) (records []T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "mockserver", "data", name+".json"))
	require.NoError(t, err)
	var file map[string][]T
	require.NoError(t, json.Unmarshal(text, &file))
	require.NotEmpty(t, file[name])
	return file[name]
}

// What a test puts is often the least that it needs: the rest of the answer has the contract's form too.
func TestWhatARecordDoesNotSayConforms(t *testing.T) {
	c := loadContract(t)
	for name, put := range map[string]mockserver.Contribuyente{
		"a RUC":             {RUC: "20700000001"},
		"a RUC and a name":  {RUC: "20700000001", RazonSocial: "MINIMA S.A.C."},
		"one of two dates":  {RUC: "20700000001", RazonSocial: "MINIMA S.A.C.", FechaInicioActividades: "2024-02-29"},
		"no ubigeo":         {RUC: "20700000001", RazonSocial: "MINIMA S.A.C.", Departamento: "CUSCO"},
		"a state, no dates": {RUC: "20700000001", RazonSocial: "MINIMA S.A.C.", Estado: "BAJA DE OFICIO"},
		"a company":         mockserver.Empresa("20700000001"),
		"a person":          mockserver.Persona("10000000014"),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockserver.New(t, mockserver.WithContribuyentes(put))
			got := conforms(t, c, server, "/api/contribuyentes/"+put.RUC)
			var fields map[string]string
			require.NoError(t, json.Unmarshal(got.body, &fields))
			assert.Len(t, fields, 13)
			assert.Equal(t, cmp.Or(put.Estado, "ACTIVO"), fields["estado"])
			assert.Equal(t, put.Departamento, fields["departamento"], "any text has the contract's form")
			assert.LessOrEqual(t, fields["fechaInscripcion"], fields["fechaInicioActividades"])
			conforms(t, c, server, "/api/contribuyentes/search?razonSocial="+url.QueryEscape(cmp.Or(put.RazonSocial, "MINIMA")))
		})
	}
}

// conforms asks a server for something and judges the answer as it came.
func conforms(t *testing.T, c *contract, server *mockserver.Server, target string) reply {
	t.Helper()
	req := newRequest(t, http.MethodGet, server.URL+target, server.APIKey, "")
	got := roundTrip(t, req)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	require.NoError(t, c.checkReply(req, got), "%s", got.body)
	return got
}

// What the document shows of a validation that succeeds is what the mock's sample data answer.
func TestMockServerAnswersTheDocumentsExample(t *testing.T) {
	c := loadContract(t)
	operation := c.doc.Paths.Find(cpePath).Post
	text := func(content openapi3.Content) string {
		value, err := json.Marshal(content.Get("application/json").Examples["factura"].Value.Value)
		require.NoError(t, err)
		return string(value)
	}
	server := mockserver.New(t)
	req := func() *http.Request {
		return newRequest(t, http.MethodPost, server.URL+cpePath, server.APIKey, text(operation.RequestBody.Value.Content))
	}
	require.NoError(t, c.checkRequest(req()))
	got := roundTrip(t, req())
	assert.Equal(t, http.StatusOK, got.status)
	assert.JSONEq(t, text(operation.Responses.Status(http.StatusOK).Value.Content), string(got.body))
}
