package otelfiscope_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/otelfiscope"
)

const (
	baseURL = "https://inquilino-siete.fiscal.example/consultas"
	host    = "inquilino-siete.fiscal.example"
	apiKey  = "llave-Q4zR"
	ruc     = "20131312955" // the tax authority itself
	emisor  = "20100070970"
	usuario = "MIUSER01"
	clave   = "cl4ve-Xy7"
	nombre  = "muestra de compañía"
)

var (
	factura      = fiscope.Comprobante{RUCEmisor: emisor, Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	credenciales = fiscope.CredencialesSOL{RUC: ruc, Usuario: usuario, Clave: fiscope.NewSecreto(clave)}
)

// contract is an answer of the contract.
func contract(t testing.TB, status int, name string, headers ...string) testservice.Answer {
	t.Helper()
	return testservice.Raw(status, sample(t, name), headers...)
}

func sample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", name))
	require.NoError(t, err)
	return string(b)
}

// inTurn gives each request its answer, and those after the last one the last.
func inTurn(answers ...testservice.Answer) testservice.Answer {
	return func(r *http.Request) (*http.Response, error) {
		next := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return next(r)
	}
}

// connect returns a client of a service that answers so, which reports to tel.
func connect(t testing.TB, tel *otelfiscope.Telemetry, a testservice.Answer, opts ...fiscope.Option) *fiscope.Client {
	t.Helper()
	opts = append([]fiscope.Option{
		fiscope.WithHTTPClient(&http.Client{Transport: a}),
		fiscope.WithHook(tel.Hook), fiscope.WithObserver(tel.Observe),
	}, opts...)
	client, err := fiscope.NewClient(baseURL, apiKey, append([]fiscope.Option{fiscope.WithRetry(fiscope.RetryPolicy{Base: -1})}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	return client
}

// atOnce retries: the client of a test does so without a wait.
func atOnce(retries int) fiscope.Option { return fiscope.WithMaxRetries(retries) }

// reserve is a registry at hand.
type reserve struct{}

func (reserve) Contribuyente(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	return &fiscope.Contribuyente{RUC: ruc, RazonSocial: nombre, Estado: fiscope.EstadoActivo, Condicion: fiscope.CondicionHabido}, fiscope.NewFecha(1999, 12, 31), nil
}
