package contracttest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// What the mock server offers a test to begin with conforms as it is.
func TestRecordsOfATestConform(t *testing.T) {
	c := loadContract(t)
	const ruc, body = "20999990097", `{"rucEmisor": "20999990097", "tipoComprobante": "01", "serie": "F009", "numero": 7,
		"rucSolicitante": "20999990097", "usuarioSol": "MIUSER01", "claveSol": "` + mockserver.ClaveSOL + `"}`
	data := []mockserver.Option{
		mockserver.WithoutDefaultData(), mockserver.WithContribuyentes(mockserver.Empresa(ruc), mockserver.Persona("10000000014")),
		mockserver.WithComprobantes(mockserver.Factura(ruc, "F009", 7)), mockserver.WithUsuariosSOL(mockserver.UsuarioSecundario(ruc)),
	}
	for _, e := range []exchange{
		get("a company", "/api/contribuyentes/"+ruc, 200, ""),
		get("a person", "/api/contribuyentes/10000000014", 200, ""),
		get("both", "/api/contribuyentes/search?razonSocial=de+prueba", 200, ""),
		{name: "an invoice", method: http.MethodPost, target: cpePath, body: body, status: 200},
	} {
		t.Run(e.name, func(t *testing.T) {
			server := mockserver.New(t, data...)
			req := newRequest(t, e.method, server.URL+e.target, server.APIKey, e.body)
			got := roundTrip(t, req)
			require.Equal(t, e.status, got.status, "%s", got.body)
			require.NoError(t, c.checkReply(req, got))
		})
	}
}
