package fiscope_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// Over real sockets, since it is net/http that forwards X-API-KEY to any host, and repeats the body
// after a 307 or 308.
func TestNoRedirectCarriesTheKeyAway(t *testing.T) {
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	for name, location := range map[string]string{
		"another port":  thief.URL + "/api",
		"another host":  strings.Replace(thief.URL, "127.0.0.1", "localhost", 1),
		"with userinfo": strings.Replace(thief.URL, "http://", "http://a:b@", 1),
		"no scheme":     strings.TrimPrefix(thief.URL, "http:"),
		"the same":      "/api/tipocambio",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				var requests atomic.Int64
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					w.Header().Set("Location", location)
					w.WriteHeader(status)
				}))
				defer srv.Close()
				client, err := fiscope.NewClient(srv.URL, apiKey)
				require.NoError(t, err)
				defer client.CloseIdleConnections()
				for _, op := range []string{"consultar", "validar"} {
					err := operations[op](t.Context(), client)
					require.ErrorIs(t, err, fiscope.ErrRedirect)
					assert.NotContains(t, err.Error(), "/api")
				}
				assert.EqualValues(t, 2, requests.Load())
				assert.Zero(t, stolen.Load(), "the key went to another server")
			})
		}
	}
}

// A proxy for plain http reads everything. Over real sockets, since it is net/http that asks for it.
func TestNoProxyReadsWhatIsMeantForThisMachine(t *testing.T) {
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, record) }))
	defer srv.Close()
	proxy, err := url.Parse(thief.URL)
	require.NoError(t, err)
	asks := &http.Transport{Proxy: http.ProxyURL(proxy)}
	ask := func(t *testing.T, baseURL string, opts ...fiscope.Option) error {
		client, err := fiscope.NewClient(baseURL, apiKey, opts...)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		return operations["consultar"](t.Context(), client)
	}
	for _, baseURL := range []string{srv.URL, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), strings.ToUpper(strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))} {
		t.Run("the caller's transport, "+baseURL, func(t *testing.T) {
			require.NoError(t, ask(t, baseURL, fiscope.WithHTTPClient(&http.Client{Transport: asks})))
			assert.Zero(t, stolen.Load())
			assert.NotNil(t, asks.Proxy, "which is not changed")
		})
		t.Run("our own, "+baseURL, func(t *testing.T) {
			of := http.DefaultTransport
			http.DefaultTransport = asks
			defer func() { http.DefaultTransport = of }()
			require.NoError(t, ask(t, baseURL))
			assert.Zero(t, stolen.Load())
		})
	}
	t.Run("a transport that cannot be looked into", func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
		require.NoError(t, ask(t, "HTTP://LocalHost:8080/", fiscope.WithHTTPClient(&http.Client{Transport: s})))
		assert.Equal(t, "http://localhost:8080/api/contribuyentes/"+rucSUNAT, s.seen()[0].url, "the only name that the environment's proxy is not asked for")
	})
	t.Run("WithInsecureHTTP leaves it to the caller", func(t *testing.T) {
		_ = ask(t, srv.URL, fiscope.WithHTTPClient(&http.Client{Transport: asks}), fiscope.WithInsecureHTTP())
		assert.EqualValues(t, 1, stolen.Load())
	})
}

// dying is a server that answers the first request of a connection and cuts at the second, before any
// answer: net/http then repeats a GET by itself (golang/go#48438).
func dying(t *testing.T) (url string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n := requests.Add(1); n == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				_ = conn.Close()
			}
			return
		}
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, verdict)
			return
		}
		w.Header().Set("X-RateLimit-Remaining", "100")
		_, _ = io.WriteString(w, record)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests
}

func TestAReplayOfNetHTTPIsCounted(t *testing.T) {
	url, requests := dying(t)
	client, err := fiscope.NewClient(url, apiKey, fiscope.WithRetry(noRetries()))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	require.NoError(t, operations["consultar"](t.Context(), client))
	require.NoError(t, operations["consultar"](t.Context(), client), "net/http repeated it")
	assert.EqualValues(t, 3, requests.Load())
	assert.EqualValues(t, 2, client.Stats().Attempts)
	assert.EqualValues(t, 3, client.Stats().Sent, "what was written, not what was attempted")
}

func TestAValidationIsNotReplayedByNetHTTP(t *testing.T) {
	url, requests := dying(t)
	client, err := fiscope.NewClient(url, apiKey)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	require.NoError(t, operations["validar"](t.Context(), client))
	err = operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
	assert.EqualValues(t, 2, requests.Load())
}

func TestDeliveryOverARealSocket(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		client, err := fiscope.NewClient("http://"+l.Addr().String(), apiKey, fiscope.WithRetry(noRetries()))
		require.NoError(t, err)
		err = operations["validar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
		assert.Zero(t, client.Stats().Sent)
	})
	t.Run("cut before the answer", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				_ = conn.Close()
			}
		}))
		defer srv.Close()
		client, err := fiscope.NewClient(srv.URL, apiKey)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		err = operations["validar"](t.Context(), client)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
		assert.EqualValues(t, 1, client.Stats().Sent)
	})
	t.Run("not TLS", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		defer srv.Close()
		client, err := fiscope.NewClient(strings.Replace(srv.URL, "http:", "https:", 1), apiKey)
		require.NoError(t, err)
		err = operations["consultar"](t.Context(), client)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 1, e.Attempts, "a TLS failure is final")
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
	})
}

func TestATLSAlertIsFinal(t *testing.T) {
	for name, version := range map[string]uint16{"in the handshake": tls.VersionTLS12, "after it": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(http.NotFoundHandler())
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
			srv.StartTLS()
			defer srv.Close()
			client, err := fiscope.NewClient(srv.URL, apiKey, fiscope.WithHTTPClient(srv.Client()))
			require.NoError(t, err)
			err = operations["consultar"](t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrUnavailable)
			require.ErrorContains(t, err, "remote error: tls")
			assert.EqualValues(t, 1, client.Stats().Attempts)
		})
	}
}

func TestABurstOfFailuresKeepsTheConnections(t *testing.T) {
	var requests, connections atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, strings.Repeat("mantenimiento ", 5000))
			return
		}
		_, _ = io.WriteString(w, record)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	srv.StartTLS()
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey, fiscope.WithHTTPClient(srv.Client()), fiscope.WithRetry(noRetries()))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	failures := 0
	for range 200 {
		if operations["consultar"](t.Context(), client) != nil {
			failures++
		}
	}
	assert.Equal(t, 20, failures)
	assert.EqualValues(t, 1, connections.Load(), "one connection serves the whole burst")
}

func TestNoIdempotencyKeyIsSent(t *testing.T) {
	client, s := answers(t, raw(200, verdict))
	require.NoError(t, operations["validar"](t.Context(), client))
	assert.Empty(t, s.seen()[0].header.Values("Idempotency-Key"), "it would make net/http repeat the POST")
	assert.Empty(t, s.seen()[0].header.Values("X-Idempotency-Key"))
}
