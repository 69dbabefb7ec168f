package fiscope_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// Calls without options share their settings: what one makes of them for itself is not the next one's.
func TestNoCallLeavesItsSettingsToTheNext(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"no hook": nil, "a hook": {fiscope.WithHook(new(spans).hook)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}}
				client := newClient(t, s, opts...)
				_, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Timeout: time.Minute})
				require.NoError(t, err)
				time.Sleep(time.Hour)
				_, err = client.CPE.Validar(t.Context(), factura, credenciales)
				require.NoError(t, err, "it has no end of a wait")
				for _, err := range client.CPE.ValidarLote(t.Context(), slices.Values([]fiscope.Comprobante{factura}), credenciales, fiscope.LotePolicy{}) {
					require.NoError(t, err, "it has no Response of a call")
				}
			})
		})
	}
}
