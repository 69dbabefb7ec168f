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

func TestWithoutFlagsItShowsEverythingOnAMockOfItsOwn(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, env(), &out), out.String())
	for _, shows := range []string{
		"SUPERINTENDENCIA NACIONAL DE ADUANAS", "activo y habido", "quedan 999 consultas",
		"GLORIA SINTETICA S.A.", "Aceptado (código 0)", "Venta          S/ 3.",
		"No existe lo que se pidió", "detectado sin gastar", "Texto muy corto", "clave SOL errados",
		"El servicio no responde", "rechaza la clave de API", "Se agotó la cuota",
	} {
		assert.Contains(t, out.String(), shows)
	}
	assert.NotContains(t, out.String(), "✗")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
	}
}

func TestAgainstAServerItSpendsLittleAndRisksNobody(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(4))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-base-url", srv.URL}, env("FISCOPE_API_KEY", srv.APIKey), &out), out.String())
	assert.Contains(t, out.String(), "No se valida: hacen falta FISCOPE_SOL_RUC")
	assert.NotContains(t, out.String(), "Se agotó la cuota", "four queries are enough")
	assert.NotContains(t, out.String(), "clave SOL errada")
	assert.Contains(t, out.String(), "un RUC que no existe")
}

func TestAReceiptIsValidatedWithTheUsersOwnCredentials(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(5))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, env(
		"FISCOPE_BASE_URL", srv.URL, "FISCOPE_API_KEY", srv.APIKey,
		"FISCOPE_SOL_RUC", mockserver.RUCSolicitante, "FISCOPE_SOL_USUARIO", mockserver.UsuarioSOL, "FISCOPE_SOL_CLAVE", mockserver.ClaveSOL,
	), &out), out.String())
	assert.Contains(t, out.String(), "Aceptado (código 0)")
	assert.False(t, strings.Contains(out.String(), mockserver.ClaveSOL), "the clave is printed")
	assert.NotContains(t, out.String(), "clave SOL errada", "no wrong clave is ever sent there")
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(0))
	var out bytes.Buffer
	require.Error(t, run(t.Context(), []string{"-base-url", srv.URL}, env("FISCOPE_API_KEY", srv.APIKey), &out))
	assert.Contains(t, out.String(), "✗ Se agotó la cuota del día")
	assert.Contains(t, out.String(), "Algo no salió bien")

	out.Reset()
	require.ErrorContains(t, run(t.Context(), []string{"-base-url", "http://example.com"}, env("FISCOPE_API_KEY", "x"), &out), "https")
	require.ErrorContains(t, run(t.Context(), []string{"-base-url", srv.URL}, env(), &out), "API key is empty")
	err := run(t.Context(), []string{"-base-url", "http://fiscal.invalid"}, env("FISCOPE_API_KEY", " ", "FISCOPE_INSECURE_HTTP", "1"), &out)
	require.ErrorContains(t, err, "API key", "the address is accepted, and the key is looked at")
}
