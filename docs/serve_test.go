package docs_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/gateway"
	"github.com/fiscope/fiscope/mockserver"
)

const gatewayKey = "clave-de-la-tienda-1"

// serveForPrograms starts a gateway before a mock, and returns the environment of a program that asks it.
func serveForPrograms(t *testing.T, opts ...mockserver.Option) (*mockserver.Server, []string) {
	t.Helper()
	mock := mockserver.New(t, opts...)
	client := mock.Client(fiscope.WithSOL(fiscope.CredencialesSOL{
		RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
	}))
	t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
	g, err := gateway.New(client, gateway.Options{Keys: []gateway.Key{{Name: "tienda", Key: gatewayKey}}})
	require.NoError(t, err)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return mock, append(os.Environ(), "FISCOPE_BASE_URL="+server.URL, "FISCOPE_API_KEY="+gatewayKey)
}

// program runs a program of docs/serve.md, which has at most 12 lines, and returns what it prints.
func program(t *testing.T, env []string, language string, n int, args ...string) (string, error) {
	t.Helper()
	b := blocksOf(repository(t)["docs/serve.md"], language)[n]
	assert.LessOrEqual(t, strings.Count(b.text, "\n"), 12, "docs/serve.md:%d", b.line)
	how := map[string][]string{"php": {"php", "consulta.php", "php-cli"}, "js": {"node", "consulta.mjs", "nodejs, 18 or later"}, "python": {"python3", "consulta.py", "python3"}}[language]
	if _, err := exec.LookPath(how[0]); err != nil {
		t.Skipf("install %s to run this test: %v", how[2], err)
	}
	file := filepath.Join(t.TempDir(), how[1])
	write(t, file, b.text)
	cmd := exec.CommandContext(t.Context(), how[0], append([]string{file}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The four calls in each language, with its standard library alone.
func TestTheProgramsOfServe(t *testing.T) {
	for _, language := range []string{"php", "js", "python"} {
		t.Run(language, func(t *testing.T) {
			mock, env := serveForPrograms(t, mockserver.WithTipoCambio("2024-01-17", "3.711", "3.723"))
			out, err := program(t, env, language, 0)
			require.NoError(t, err, out)
			assert.Equal(t, "SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT\n20331898008\n3.723\nAceptado\n", out)
			mock.AssertSpent(t, mockserver.Filter{}, 4)
			mock.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(503))
			out, _ = program(t, env, language, 0)
			assert.Contains(t, out, map[string]string{"php": "UNAVAILABLE: El servicio", "js": "UNAVAILABLE: El servicio", "python": "503"}[language])
		})
	}
}

// SUNAT's rate for an invoice's date, as the SDK finds it.
func TestTheRateOfAnInvoiceInPHP(t *testing.T) {
	now := time.Date(2026, time.November, 23, 12, 0, 0, 0, fiscope.Lima)
	mock, env := serveForPrograms(t, mockserver.WithNow(now), mockserver.WithFrozenClock())
	client := mock.Client()
	for _, fecha := range []fiscope.Fecha{
		fiscope.NewFecha(2026, time.November, 20), fiscope.NewFecha(2026, time.November, 21), fiscope.NewFecha(2026, time.November, 23),
		fiscope.NewFecha(2026, time.August, 1), fiscope.NewFecha(2026, time.January, 2),
	} {
		want, err := client.TipoCambio.SUNAT(t.Context(), fecha)
		require.NoError(t, err)
		out, err := program(t, env, "php", 1, fecha.String())
		require.NoError(t, err, out)
		assert.Equal(t, want.TipoCambio.Venta.StringFixed(3)+"\n", out, fecha)
	}
	out, err := program(t, env, "php", 1, "2026-11-24") // Monday's is not out at noon
	assert.Error(t, err)
	assert.Contains(t, out, "Sin tasa para 2026-11-24")
	require.NoError(t, client.Close(context.Background()), fmt.Sprint(out))
}
