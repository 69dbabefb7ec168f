package filestore_test

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/store"
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

// A clave that was accepted, and then changed on the portal, costs three programs one refusal.
func TestAClaveThatWasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		var changed atomic.Bool
		var posts atomic.Int64
		accepted := testservice.Raw(http.StatusOK, `{"codigo":"0","mensaje":"x","estado":"Aceptado","esValido":true}`)
		refused := testservice.Raw(http.StatusUnauthorized, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`)
		service := testservice.After(time.Second, func(r *http.Request) (*http.Response, error) {
			posts.Add(1)
			if changed.Load() {
				return refused(r)
			}
			return accepted(r)
		})
		var clients []*fiscope.Client
		for range 3 {
			client, err := fiscope.NewClient("https://api.fiscope.example", "llave-de-prueba", fiscope.WithStore(open(t, path)), fiscope.WithHTTPClient(&http.Client{Transport: service}))
			require.NoError(t, err)
			clients = append(clients, client)
		}
		all := func(class error) {
			var wg sync.WaitGroup
			for i := range 30 {
				wg.Go(func() {
					_, err := clients[i%3].CPE.Validar(t.Context(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
						fiscope.CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: fiscope.NewSecreto("claveFalsa12")})
					assert.ErrorIs(t, err, class)
				})
			}
			wg.Wait()
			time.Sleep(store.Recent)
		}
		for range 2 {
			start := time.Now()
			all(nil)
			assert.Less(t, time.Since(start), store.Recent+4*time.Second, "one goes first, and then all together")
		}
		changed.Store(true)
		before := posts.Load()
		all(fiscope.ErrInvalidSOLCredentials)
		assert.EqualValues(t, 1, posts.Load()-before)
		for _, client := range clients {
			require.NoError(t, client.Close(t.Context()))
		}
	})
}
