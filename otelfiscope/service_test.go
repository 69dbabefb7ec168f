package otelfiscope_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
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

// answer is what a transport returns.
type answer func(*http.Request) (*http.Response, error)

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// raw is an answer: a status, a body, and headers as "Name: value".
func raw(status int, body string, headers ...string) answer {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			h.Set(name, value)
		}
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
		}, nil
	}
}

// contract is an answer of the contract.
func contract(t testing.TB, status int, name string, headers ...string) answer {
	t.Helper()
	return raw(status, bytesOf(t, name), headers...)
}

func bytesOf(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", name))
	require.NoError(t, err)
	return string(b)
}

// broken is a request that gets no answer.
func broken(err error) answer {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// after answers later, and not at all once the context has ended.
func after(d time.Duration, a answer) answer {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return a(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// inTurn gives each request its answer, and those after the last one the last.
func inTurn(answers ...answer) answer {
	return func(r *http.Request) (*http.Response, error) {
		next := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return next(r)
	}
}

// connect returns a client of a service that answers so, which reports to tel.
func connect(t testing.TB, tel *otelfiscope.Telemetry, a answer, opts ...fiscope.Option) *fiscope.Client {
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
