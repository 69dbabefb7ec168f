package mockserver_test

import (
	"testing"
	"testing/synctest"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientIsBoundToItsServer(t *testing.T) {
	t.Run("over the socket", func(t *testing.T) {
		c, err := mockserver.New(t).Client().Contribuyentes.Consultar(t.Context(), "20131312955")
		require.NoError(t, err)
		assert.Equal(t, "20131312955", c.RUC)
	})
	t.Run("in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := mockserver.New(t, mockserver.WithoutSocket()).Client()
			waitUntil(t, "2026-11-20T17:00:00-05:00")
			tc, err := client.TipoCambio.Hoy(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "2026-11-20", tc.Fecha.String())
		})
	})
}

func TestClientWithAnOptionThatCannotWork(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	srv.Client(fiscope.WithHTTPClient(nil))
	assert.Contains(t, f.fatal, "mockserver: Client: ")
	require.NoError(t, srv.Close())
	started, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	defer func() { require.NoError(t, started.Close()) }()
	assert.Panics(t, func() { started.Client(fiscope.WithHTTPClient(nil)) })
}
