package mockserver_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const lookedUp = "20131312955"

func TestTheOptionsOfAClientWinOverTheServersClock(t *testing.T) {
	morning := at(t, "2024-02-28T08:00:00-05:00")
	srv, _ := start(t, mockserver.WithQuota(1), mockserver.WithNow(morning), mockserver.WithFrozenClock())
	client := srv.Client(fiscope.WithClock(func() time.Time { return morning }))
	_, err := client.Contribuyentes.Consultar(t.Context(), lookedUp)
	require.NoError(t, err)
	srv.Advance(24 * time.Hour)
	_, err = client.Contribuyentes.Consultar(t.Context(), lookedUp)
	require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
	srv.AssertCalls(t, mockserver.Filter{}, 1)
}

// A test with a fixed time says the same in whatever year it runs.
func TestAFixedNowIsTheSameInAnyYear(t *testing.T) {
	const ruc = "20999990097"
	story := func(t *testing.T, opts ...mockserver.Option) (lines []string) {
		srv, _ := start(t, append(opts, mockserver.WithNow(at(t, "2026-11-20T16:59:00-05:00")), mockserver.WithQuota(9), mockserver.WithContribuyentes(mockserver.Empresa(ruc)))...)
		client := srv.Client(fiscope.WithCache(fiscope.CachePolicy{}))
		defer func() { require.NoError(t, client.Close(context.Background())) }()
		note := func(v any, err error) { lines = append(lines, fmt.Sprintf("%v %v %+v", v, err, client.RateLimit())) }
		for range 5 {
			c, err := client.Contribuyentes.Consultar(t.Context(), ruc)
			note(c, err)
			hoy, err := client.TipoCambio.Hoy(t.Context())
			note(hoy, err)
			sunat, err := client.TipoCambio.SUNAT(t.Context(), fiscope.FechaEnLima(srv.Now()))
			note(sunat, err)
			v, err := client.CPE.Validar(t.Context(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
				fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto("mala")})
			note(v, err)
			require.NoError(t, srv.Advance(7*time.Hour))
		}
		for _, r := range srv.Requests() {
			lines = append(lines, fmt.Sprintln(r.Time.UTC(), r.Path, r.Query, r.Status, r.Cost, r.Answer))
		}
		return lines
	}
	for name, opts := range map[string][]mockserver.Option{"running": nil, "frozen": {mockserver.WithFrozenClock()}} {
		t.Run(name, func(t *testing.T) {
			var first []string
			for _, year := range []int{2000, 2019, 2026, 2027, 2100} {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(time.Date(year, time.December, 31, 23, 59, 0, 0, fiscope.Lima)))
					lines := story(t, opts...)
					if first == nil {
						first = lines
					}
					assert.Equal(t, first, lines, year)
				})
			}
		})
	}
}
