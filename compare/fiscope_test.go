package compare

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

type ofFiscope struct{ api *fiscope.Client }

func newFiscope(t testing.TB, hc *http.Client) client {
	retry := fiscope.RetryPolicy{Base: wait, Cap: maxWait}
	c, err := fiscope.NewClient(baseURL, key, fiscope.WithHTTPClient(hc), fiscope.WithTimeout(timeout), fiscope.WithCPETimeout(timeout), fiscope.WithRetry(retry), fiscope.WithMaxRetries(retries))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close(context.Background())) })
	return ofFiscope{c}
}

func (c ofFiscope) lookup(ctx context.Context, ruc string) (object, error) {
	found, err := c.api.Contribuyentes.Consultar(ctx, ruc)
	if err != nil {
		return object{}, err
	}
	return object{found.RUC, found.RazonSocial, string(found.Estado)}, nil
}

func (c ofFiscope) send(ctx context.Context, clave string) error {
	_, err := c.api.CPE.Validar(ctx,
		fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: fiscope.NewSecreto(clave)})
	return err
}
