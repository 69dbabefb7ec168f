package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTaxpayersOfATest(t *testing.T) {
	const empresa, persona = "20999990097", "10000000014"
	srv, _ := start(t, mockserver.WithoutDefaultData(),
		mockserver.WithContribuyentes(mockserver.Empresa(empresa), mockserver.Persona(persona)))
	client := srv.Client()
	for _, ruc := range []string{empresa, persona} {
		var resp fiscope.Response
		c, err := client.Contribuyentes.Consultar(t.Context(), ruc, fiscope.WithResponse(&resp))
		require.NoError(t, err)
		assert.True(t, c.ActivoYHabido())
		assert.Empty(t, resp.Warnings)
		found, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: c.RazonSocial})
		require.NoError(t, err)
		require.Len(t, found, 1, "a name of its own")
		assert.Equal(t, ruc, found[0].RUC)
	}
	p := mockserver.Persona(persona)
	assert.Empty(t, p.NombreComercial, "as in the registry")
	assert.Equal(t, "-", p.Direccion)
}

func TestAReceiptAndAUserOfATest(t *testing.T) {
	const emisor, nuestro = "20999990097", "20999990089"
	anulada := mockserver.Factura(emisor, "F002", 8)
	anulada.Codigo = mockserver.CodigoAnulado
	srv, _ := start(t, mockserver.WithoutDefaultData(), mockserver.WithUsuariosSOL(mockserver.UsuarioSecundario(nuestro)),
		mockserver.WithComprobantes(mockserver.Factura(emisor, "F002", 7), anulada))
	client := srv.Client()
	credentials := fiscope.CredencialesSOL{RUC: nuestro, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL)}
	for numero, want := range map[int]fiscope.CodigoCPE{7: fiscope.CodigoAceptado, 8: fiscope.CodigoAnulado} {
		v, err := client.CPE.Validar(t.Context(), fiscope.Comprobante{RUCEmisor: emisor, Tipo: fiscope.TipoFactura, Serie: "F002", Numero: numero}, credentials)
		require.NoError(t, err)
		assert.Equal(t, want, v.Codigo)
	}
}
