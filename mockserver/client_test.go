package mockserver_test

import (
	"net"
	"net/http"
	"net/http/httptrace"
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

func TestTransportSpeaksRealHTTP(t *testing.T) {
	_, api := start(t)
	var reused []bool
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { reused = append(reused, i.Reused) },
	})
	for range 3 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cualquier.host.example/api/tipocambio", nil)
		require.NoError(t, err)
		resp, err := api.hc.Do(req)
		require.NoError(t, err)
		assert.Equal(t, "HTTP/1.1", resp.Proto)
		_, err = resp.Body.Read(make([]byte, 1<<10))
		_ = err
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, []bool{false, true, true}, reused, "keep-alive")
}

func TestTransportAfterClose(t *testing.T) {
	srv, api := start(t)
	require.Equal(t, 200, api.get(lookup).status)
	require.NoError(t, srv.Close())
	unused := mockserver.New(t, mockserver.WithoutSocket())
	require.NoError(t, unused.Close())
	for name, rt := range map[string]http.RoundTripper{
		"made before": api.hc.Transport, "made after": srv.Transport(), "the first": unused.Transport(),
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := (&http.Client{Transport: rt}).Get(srv.URL + lookup)
			if err == nil {
				_ = resp.Body.Close()
			}
			assert.ErrorIs(t, err, net.ErrClosed)
		})
	}
}

func TestTransportOfAServerWithASocket(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(10))
	assert.Equal(t, "9", remaining(plain(t, srv).get(lookup)))
	overSocket := api{t, srv.URL, srv.APIKey, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	assert.Equal(t, "8", remaining(overSocket.get(lookup)), "one server behind both")
}
