package mockserver_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without the series a day has no rate by itself: one that was put and deleted leaves nothing.
func TestADeletedRateWithoutTheSeries(t *testing.T) {
	for name, c := range map[string]struct {
		opts []mockserver.Option
		gone []string
	}{
		"without": {[]mockserver.Option{mockserver.WithoutDefaultData()}, nil},
		"with":    {nil, []string{"2024-02-29"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, c.opts...)
			require.NoError(t, srv.PutTipoCambio("2024-02-29", "3.750", "3.760"))
			require.NoError(t, srv.DeleteTipoCambio("2024-02-29"))
			assert.Equal(t, c.gone, srv.Data().Deleted.TiposCambio)
			api.get("/api/tipocambio?fecha=2024-02-29").isError(t, 404, "NOT_FOUND")
		})
	}
}

func TestRestoreTipoCambio(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-20T18:00:00-05:00"))
	was := api.get("/api/tipocambio").body
	for name, change := range map[string]func() error{
		"put":     func() error { return srv.PutTipoCambio("2026-11-20", "3.750", "3.760") },
		"deleted": func() error { return srv.DeleteTipoCambio("2026-11-20") },
		"as was":  func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, change())
			require.NoError(t, srv.Control().RestoreTipoCambio("2026-11-20"))
			assert.Equal(t, was, api.get("/api/tipocambio").body)
			assert.Empty(t, srv.Data().TiposCambio)
			assert.Empty(t, srv.Data().Deleted.TiposCambio)
		})
	}
	outside, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	defer func() { require.NoError(t, outside.Close()) }()
	require.ErrorContains(t, outside.Control().RestoreTipoCambio("2026-11-21"), "fin de semana")
	require.ErrorContains(t, outside.Control().RestoreTipoCambio("ayer"), "AAAA-MM-DD")
}
