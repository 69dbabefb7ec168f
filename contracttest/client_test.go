package contracttest

import (
	"context"
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

func TestTheClientAsksByTheContract(t *testing.T) {
	search := func(texto string, limite int) func(context.Context, *fiscope.Client) error {
		return func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: texto, Limite: limite})
			return err
		}
	}
	for name, test := range map[string]struct {
		sample, want string
		ask          func(context.Context, *fiscope.Client) error
	}{
		"a lookup": {"consultar_200.json", "/api/contribuyentes/20131312955", func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.Contribuyentes.Consultar(ctx, "20131312955")
			return err
		}},
		"a search":                     {"buscar_200.json", "/api/contribuyentes/search?razonSocial=peru", search("peru", 0)},
		"a search, with a limit":       {"buscar_200.json", "/api/contribuyentes/search?limit=50&razonSocial=peru", search("peru", 50)},
		"a search in Spanish":          {"buscar_200.json", "/api/contribuyentes/search?razonSocial=%C3%B1a%C3%B1", search("ñañ", 0)},
		"a search with odd characters": {"buscar_200.json", "/api/contribuyentes/search?razonSocial=100%25+a%2Bb%3Dc%3Fd%23e%2Ff%3Bg+%26+B", search("100% a+b=c?d#e/f;g & B", 0)},
		"a rate": {"tipocambio_200.json", "/api/tipocambio?fecha=2026-11-20", func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.Consultar(ctx, fiscope.NewFecha(2026, time.November, 20))
			return err
		}},
		"today's rate": {"tipocambio_200.json", "/api/tipocambio", func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.Hoy(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			client, j := newJudged(t, test.sample)
			require.NoError(t, test.ask(t.Context(), client))
			assert.Equal(t, test.want, j.request.URL.RequestURI())
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
