package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// ajeno is what has no place in telemetry: RUCs, whole or in part, the name that was searched, keys and
// claves.
var ajeno = []string{
	rucSUNAT, "2013131295", "20999999990", "20100070970", "20131***", nombre, "razonSocial",
	mockserver.DefaultAPIKey, mockserver.ClaveSOL, mockserver.UsuarioSOL, claveErrada,
}

func sinNadaAjeno(t *testing.T, texto string) {
	t.Helper()
	for _, s := range ajeno {
		assert.NotContains(t, strings.ToLower(texto), strings.ToLower(s))
	}
	assert.NotContains(t, texto, "F001") // which in lower case may be of a span's id
}

func TestWithoutFlagsItShowsSpansAndMetrics(t *testing.T) {
	for name, caso := range map[string]struct {
		args  []string
		dice  []string
		ancho int
	}{
		"for people": {nil, []string{
			"  · GET ", "  ✗ GET ", "· TipoCambio.Consultar ",
			"fiscope.attempts=2", "fiscope.source=cache", "error.type=invalid_sol_credentials",
			"Métricas (de una duración, cuántas y su media):", "fiscope.queries.avoided (query)\n", "fiscope.quota.limit (query)\n         1000\n",
		}, 80},
		"for programs": {[]string{"-json"}, []string{
			`"Name": "Contribuyentes.Consultar"`, `"Name": "fiscope.operation.duration"`, `"facturador"`,
		}, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, run(t.Context(), caso.args, env(), &out), out.String())
			for _, dice := range caso.dice {
				assert.Contains(t, out.String(), dice)
			}
			sinNadaAjeno(t, out.String())
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), caso.ancho, line)
			}
		})
	}
}

func TestAgainstAServerItSpendsThreeQueriesAndValidatesNothing(t *testing.T) {
	srv := mockserver.New(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, env("FISCOPE_BASE_URL", srv.URL, "FISCOPE_API_KEY", srv.APIKey), &out), out.String())
	srv.AssertSpent(t, mockserver.Filter{}, 3)
	srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpValidar}, 0)
	for _, r := range srv.Requests(mockserver.Filter{Op: mockserver.OpConsultar}) {
		assert.Equal(t, "/api/contribuyentes/"+rucSUNAT, r.Path, "what is hidden from spans is still asked")
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	srv := mockserver.New(t)
	for name, caso := range map[string]struct {
		env  func(string) string
		args []string
		dice string
	}{
		"a wrong key":            {env("FISCOPE_BASE_URL", srv.URL, "FISCOPE_API_KEY", "otra"), nil, "unauthorized"},
		"no key":                 {env("FISCOPE_BASE_URL", srv.URL), nil, "API key is empty"},
		"plain http":             {env("FISCOPE_BASE_URL", "http://fiscope.example", "FISCOPE_API_KEY", "otra"), nil, "https"},
		"a flag there is not":    {env(), []string{"-x"}, "-x"},
		"allowed, but nobody is": {env("FISCOPE_BASE_URL", "http://127.0.0.1:1", "FISCOPE_API_KEY", "otra", "FISCOPE_INSECURE_HTTP", "1"), nil, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.ErrorContains(t, run(t.Context(), caso.args, caso.env, &out), caso.dice)
		})
	}
}
