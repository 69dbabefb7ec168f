package filestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// A program that is started again and again pays for an answer once, tries a wrong clave once, and leaves no secret in
// its file.
func TestAProgramThatIsStartedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	service := mockserver.New(t, mockserver.WithoutSocket())
	const wrong = "clave-equivocada"
	for range 5 {
		client := service.Client(fiscope.WithStore(open(t, path)), fiscope.WithCache(fiscope.CachePolicy{}))
		_, err := client.Contribuyentes.Consultar(t.Context(), "20131312955")
		require.NoError(t, err)
		_, err = client.CPE.Validar(t.Context(),
			fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
			fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(wrong)})
		require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
		require.NoError(t, client.Close(t.Context()))
	}
	service.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
	service.AssertCalls(t, mockserver.Filter{Op: mockserver.OpConsultar}, 1)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, secret := range map[string]string{"the API key": service.APIKey, "the clave": wrong, "the SOL user": mockserver.UsuarioSOL} {
		assert.NotContains(t, string(content), secret, name)
	}
}
