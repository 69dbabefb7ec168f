package contracttest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// send performs e on a server of its own: nothing that another exchange did is in its way.
func (e exchange) send(t *testing.T) (*http.Request, reply) {
	t.Helper()
	opts := append(receiptData(), at(fridayEvening))
	server := mockserver.New(t, append(opts, e.opts...)...)
	key := server.APIKey
	if e.noKey {
		key = ""
	}
	req := newRequest(t, e.method, server.URL+e.target, key, e.body)
	return req, roundTrip(t, req)
}

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

func TestMockServerAnswersByTheContract(t *testing.T) {
	c := loadContract(t)
	for _, e := range append(exchanges(t), undocumented(t)...) {
		t.Run(e.name, func(t *testing.T) {
			req, got := e.send(t)
			require.Equal(t, e.status, got.status, "%s", got.body)
			require.NoError(t, c.checkReply(req, got))
			if e.code != "" {
				assert.Equal(t, e.code, decodeError(t, got.body).Code)
			}
		})
	}
}

// The mock server and openapi.yaml must agree on what a bad request is, or one of them misreads the
// contract.
func TestMockServerRefusesWhatTheDocumentRefuses(t *testing.T) {
	c := loadContract(t)
	for _, e := range exchanges(t) {
		t.Run(e.name, func(t *testing.T) {
			err := c.checkRequest(newRequest(t, e.method, anyBase+e.target, "key", e.body))
			if e.status == http.StatusBadRequest {
				assert.Error(t, err)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestMockServerReachesEveryDocumentedStatus(t *testing.T) {
	c := loadContract(t)
	reached := map[string]bool{}
	for _, e := range exchanges(t) {
		reached[c.row(t, newRequest(t, e.method, anyBase+e.target, "", ""), e.status)] = true
	}
	for _, row := range c.documented() {
		assert.True(t, reached[row], "no exchange for %s", row)
	}
}

// Every state of docs/contrato.md, 2.4, as the mock reports it and not only as some valid value.
func TestMockServerPairsCodeAndEstado(t *testing.T) {
	for numero, want := range map[string]receiptState{
		"123": {"0", "Aceptado", true},
		"2":   {"2", "Anulado", false},
		"4":   {"4", "En Proceso", false},
		"98":  {"98", "No Existe", false},
		"99":  {"99", "Error", false},
	} {
		_, answer := receipt(t, numero, "123", numero, 200, "").send(t)
		var got receiptState
		require.NoError(t, json.Unmarshal(answer.body, &got), "%s", answer.body)
		assert.Equal(t, want, got)
	}
}

// What is no operation of the contract still answers with the error body of docs/contrato.md, 2.6.
func TestMockServerAnswersOtherRequestsWithTheErrorBody(t *testing.T) {
	schema := loadContract(t).doc.Components.Schemas["Error"].Value
	for _, e := range []exchange{
		get("unknown path", "/api/contribuyente/20131312955", 404, ""),
		get("root", "/", 404, ""),
		{name: "wrong method", method: http.MethodDelete, target: lookupPath, status: 405},
		get("GET of a receipt", cpePath, 405, ""),
	} {
		t.Run(e.name, func(t *testing.T) {
			_, got := e.send(t)
			require.Equal(t, e.status, got.status)
			assert.Contains(t, got.header.Get("Content-Type"), "application/json")
			var value any
			require.NoError(t, json.Unmarshal(got.body, &value))
			assert.NoError(t, schema.VisitJSON(value))
		})
	}
}

// unknown puts any value of the right format where the registry has none. The contract gives these
// fields a format and does not show how "unknown" is written; the registry's way is "-", and one of
// the mock server's taxpayers is like that on purpose.
var unknown = strings.NewReplacer(
	`"ubigeo":"-"`, `"ubigeo":"000000"`,
	`"fechaInscripcion":"-"`, `"fechaInscripcion":"2000-01-01"`,
	`"fechaInicioActividades":"-"`, `"fechaInicioActividades":"2000-01-01"`,
)

// The data that the mock server comes with must conform too: a search is the only way to find it.
func TestMockServersOwnTaxpayersConform(t *testing.T) {
	c := loadContract(t)
	server := mockserver.New(t)
	fetch := func(target string) reply {
		req := newRequest(t, http.MethodGet, server.URL+target, server.APIKey, "")
		got := roundTrip(t, req)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		got.body = []byte(unknown.Replace(string(got.body)))
		require.NoError(t, c.checkReply(req, got), "%s", got.body)
		return got
	}
	taxpayers := map[string]bool{}
	for _, text := range []string{"PERU", "S.A", "SOCIEDAD", "MUESTRA", "PRUEBA", "SINTETICA"} {
		var found []struct{ RUC string }
		got := fetch("/api/contribuyentes/search?limit=50&razonSocial=" + text)
		require.NoError(t, json.Unmarshal(got.body, &found))
		for _, f := range found {
			taxpayers[f.RUC] = true
		}
	}
	require.NotEmpty(t, taxpayers)
	for ruc := range taxpayers {
		fetch("/api/contribuyentes/" + ruc)
	}
}
