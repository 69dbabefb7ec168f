package contracttest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// judge stands where the network would be: it fails a request that does not conform, and answers one
// that does with a sample. So neither side of the mock server is trusted here.
type judge struct {
	contract *contract
	sample   string // what to answer with
	request  *http.Request
	body     []byte
}

func (j *judge) RoundTrip(req *http.Request) (*http.Response, error) {
	// The validator replaces the body that it reads, and a RoundTripper must leave its request as it is.
	j.request = req.Clone(req.Context())
	if err := j.contract.checkRequest(j.request); err != nil {
		return nil, fmt.Errorf("the request does not conform: %w", err)
	}
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if j.body, err = io.ReadAll(j.request.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     answerHeader(),
		Body:       io.NopCloser(strings.NewReader(j.sample)),
		Request:    req,
	}, nil
}

// newJudged returns a client whose one request must conform, and is answered with the sample file.
func newJudged(t *testing.T, file string) (*fiscope.Client, *judge) {
	t.Helper()
	j := &judge{contract: loadContract(t), sample: readSample(t, file)}
	client, err := fiscope.NewClient("http://127.0.0.1", "clave-de-api",
		fiscope.WithHTTPClient(&http.Client{Transport: j}))
	require.NoError(t, err)
	return client, j
}

func TestClientLooksUpByTheContract(t *testing.T) {
	client, j := newJudged(t, "consultar_200.json")
	_, err := client.Contribuyentes.Consultar(t.Context(), "20131312955")
	require.NoError(t, err)
	assert.Equal(t, "/api/contribuyentes/20131312955", j.request.URL.Path)
}

func TestClientSearchesByTheContract(t *testing.T) {
	for _, b := range []fiscope.Busqueda{
		{RazonSocial: "peru"},
		{RazonSocial: "peru", Limite: 1},
		{RazonSocial: "peru", Limite: 50},
		{RazonSocial: "ñañ"},
		{RazonSocial: "A & B"},
		{RazonSocial: "100% PURO"},
		{RazonSocial: "a+b=c?d#e/f;g"},
	} {
		t.Run(b.RazonSocial, func(t *testing.T) {
			client, j := newJudged(t, "buscar_200.json")
			_, err := client.Contribuyentes.Buscar(t.Context(), b)
			require.NoError(t, err)
			query := j.request.URL.Query()
			assert.Equal(t, b.RazonSocial, query.Get("razonSocial"), "the text must arrive as it was given")
			assert.Equal(t, b.Limite != 0, query.Has("limit"), "an absent limit is the service's default")
		})
	}
}

func TestClientValidatesReceiptsByTheContract(t *testing.T) {
	for _, tipo := range []fiscope.TipoComprobante{
		fiscope.TipoFactura, fiscope.TipoBoleta, fiscope.TipoNotaCredito, fiscope.TipoNotaDebito,
	} {
		t.Run(string(tipo), func(t *testing.T) {
			client, j := newJudged(t, "validar_200_aceptado.json")
			_, err := client.CPE.Validar(t.Context(),
				fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: tipo, Serie: "F001", Numero: 123},
				fiscope.CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: fiscope.NewSecreto("claveFalsa12")})
			require.NoError(t, err)
			// The sample was written by hand: equal to it, every field carries what its name says.
			want := strings.Replace(readSample(t, requestSample), `"01"`, `"`+string(tipo)+`"`, 1)
			assert.JSONEq(t, want, string(j.body))
		})
	}
}

func TestClientAsksForARateByTheContract(t *testing.T) {
	client, j := newJudged(t, "tipocambio_200.json")
	_, err := client.TipoCambio.Consultar(t.Context(), fiscope.NewFecha(2026, time.November, 20))
	require.NoError(t, err)
	assert.Equal(t, "2026-11-20", j.request.URL.Query().Get("fecha"))
}

func TestClientAsksForTodaysRateByTheContract(t *testing.T) {
	client, j := newJudged(t, "tipocambio_200.json")
	_, err := client.TipoCambio.Hoy(t.Context())
	require.NoError(t, err)
	assert.Empty(t, j.request.URL.RawQuery, "which day is today is the service's to say")
}
