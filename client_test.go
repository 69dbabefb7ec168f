package fiscope_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestNewClientRefusesABaseURL(t *testing.T) {
	for name, test := range map[string]struct{ url, says string }{
		"empty":             {"", "no host"},
		"no scheme":         {"api.example.com", "no host"},
		"not a URL":         {"https://exa mple\x7f", "cannot be parsed"},
		"no host":           {"https:///api", "no host"},
		"a port alone":      {"https://:443", "no host"},
		"another scheme":    {"ftp://api.example.com", `"ftp"`},
		"opaque":            {"https:api.example.com", "no host"},
		"a user":            {"https://user:topsecret@api.example.com", "carries a user"},
		"a query":           {"https://api.example.com?key=topsecret", "query or a fragment"},
		"an empty query":    {"https://api.example.com?", "query or a fragment"},
		"a fragment":        {"https://api.example.com#x", "query or a fragment"},
		"http to a machine": {"http://api.example.com", "in clear"},
		"http to a network": {"http://192.0.2.7:8080", "in clear"},
		"a name like it":    {"http://localhost.example.com", "in clear"},
		"a name under it":   {"http://api.localhost", "in clear"},
		"a final dot":       {"http://localhost.", "in clear"},
		"both":              {"http://API.LOCALHOST.:8080", "in clear"},
		"another dot":       {"http://localhost。", "in clear"},
		"a round letter":    {"http://ⓛocalhost", "in clear"},
		"dots of an IP":     {"http://127。0。0。1", "in clear"},
		"a short IP":        {"http://127.1", "in clear"},
		"a hexadecimal IP":  {"http://0x7f.0.0.1", "in clear"},
		"an octal IP":       {"http://0177.0.0.1", "in clear"},
		"an IP in one":      {"http://2130706433", "in clear"},
		"an IP and a dot":   {"http://127.0.0.1.", "in clear"},
		"an IP with a zone": {"http://[::1%25lo]", "in clear"},
		"any address":       {"http://0.0.0.0:8080", "in clear"},
		"any in IPv6":       {"http://[::]:8080", "in clear"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := fiscope.NewClient(test.url, apiKey)
			assert.Nil(t, client)
			require.ErrorContains(t, err, test.says)
			assert.NotContains(t, err.Error(), "topsecret")
		})
	}
}

func TestNewClientAcceptsABaseURL(t *testing.T) {
	for _, url := range []string{
		"https://api.example.com", "https://api.example.com/", "https://api.example.com/fiscal/v2",
		"http://127.0.0.1:8080", "http://127.9.9.9", "http://localhost:8080", "http://LOCALHOST:8080", "HTTP://localhost", "http://[::1]:8080", "http://[::ffff:127.0.0.1]:8080",
	} {
		t.Run(url, func(t *testing.T) {
			_, err := fiscope.NewClient(url, apiKey)
			require.NoError(t, err)
		})
	}
}

func TestWithInsecureHTTP(t *testing.T) {
	_, err := fiscope.NewClient("http://fiscal.internal:8080", apiKey, fiscope.WithInsecureHTTP())
	require.NoError(t, err)
	_, err = fiscope.NewClient("ftp://fiscal.internal", apiKey, fiscope.WithInsecureHTTP())
	require.Error(t, err)
}

func TestANilCallOptionIsRefused(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "consultar_200.json")))
	require.ErrorIs(t, operations["consultar"](t.Context(), client, nil), fiscope.ErrInvalidRequest)
	assert.Empty(t, s.seen())
}

func TestAPathInTheBaseURLIsAPrefix(t *testing.T) {
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, "consultar_200.json"))}}
	client, err := fiscope.NewClient("https://api.example.com/fiscal//", apiKey, fiscope.WithHTTPClient(&http.Client{Transport: s}))
	require.NoError(t, err)
	require.NoError(t, operations["consultar"](t.Context(), client))
	assert.Equal(t, "https://api.example.com/fiscal/api/contribuyentes/20131312955", s.seen()[0].url)
}

func TestNewClientRefusesAnAPIKeyAndDoesNotShowIt(t *testing.T) {
	for name, key := range map[string]string{
		"empty":        "",
		"blanks":       "   ",
		"a line break": "topsecret\n",
		"a blank":      " topsecret",
		"a header":     "topsecret\r\nX-Evil: 1",
		"a NUL":        "top\x00secret",
		"the marker":   "[secreto]",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fiscope.NewClient(baseURL, key)
			require.Error(t, err)
			assert.False(t, strings.Contains(err.Error(), "topsecret"), "the error shows the key")
		})
	}
}

func TestNewClientRefusesAnOption(t *testing.T) {
	for name, opt := range map[string]fiscope.Option{
		"no HTTP client":       fiscope.WithHTTPClient(nil),
		"no user agent":        fiscope.WithUserAgent(" "),
		"a header in it":       fiscope.WithUserAgent("x\r\nX-Evil: 1"),
		"no rate":              fiscope.WithRateLimit(0, 1),
		"no burst":             fiscope.WithRateLimit(1, 0),
		"a rate below zero":    fiscope.WithRateLimit(-1, 1),
		"no time for a GET":    fiscope.WithTimeout(0, time.Second),
		"no time for a CPE":    fiscope.WithTimeout(time.Second, -1),
		"no observer":          fiscope.WithObserver(nil),
		"no logger":            fiscope.WithLogger(nil),
		"an option that's nil": nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fiscope.NewClient(baseURL, apiKey, opt)
			require.Error(t, err)
		})
	}
}

func TestTheCallersHTTPClientIsNotChanged(t *testing.T) {
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(307, "", "Location: https://ladron.example/", "Set-Cookie: a=b")}}
	followed := errors.New("the caller's CheckRedirect was asked")
	hc := &http.Client{Transport: s, CheckRedirect: func(*http.Request, []*http.Request) error { return followed }, Timeout: time.Second}
	before := fmt.Sprintf("%p %p %v %v", hc.Transport, hc.CheckRedirect, hc.Jar, hc.Timeout)
	client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHTTPClient(hc))
	require.NoError(t, err)
	err = operations["consultar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrRedirect)
	require.NotErrorIs(t, err, followed)
	assert.Equal(t, before, fmt.Sprintf("%p %p %v %v", hc.Transport, hc.CheckRedirect, hc.Jar, hc.Timeout))
}

func TestUserAgent(t *testing.T) {
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, "consultar_200.json"))}}
	require.NoError(t, operations["consultar"](t.Context(), newClient(t, s)))
	require.NoError(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithUserAgent("facturador/2.1"))))
	assert.Regexp(t, `^fiscope-go/\d`, s.seen()[0].header.Get("User-Agent"))
	assert.Equal(t, "facturador/2.1", s.seen()[1].header.Get("User-Agent"))
}

func TestWithResponseTellsOfASuccessAndOfAFailure(t *testing.T) {
	client, _ := answers(t,
		raw(200, contract(t, "consultar_200.json"), "X-RateLimit-Remaining: 7", "X-Trace: abc"),
		raw(404, contract(t, "consultar_404.json")),
	)
	var resp fiscope.Response
	require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "abc", resp.Header.Get("X-Trace"))
	assert.Equal(t, 7, resp.RateLimit.Remaining)
	assert.Equal(t, 1, resp.Attempts)
	assert.Empty(t, resp.Warnings)

	require.Error(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
	assert.Equal(t, 404, resp.StatusCode)
	assert.Nil(t, resp.RateLimit)

	_, err := client.Contribuyentes.Consultar(t.Context(), "x", fiscope.WithResponse(&resp))
	require.Error(t, err)
	assert.Equal(t, 0, resp.StatusCode)
	assert.Nil(t, resp.Header)
	assert.Zero(t, resp.Attempts)
}

func TestResultIsNilIfAndOnlyIfTheErrorIsNot(t *testing.T) {
	client, _ := answers(t, raw(200, "null"))
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.Error(t, err)
	assert.Nil(t, c)
	rs, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "gloria"})
	require.Error(t, err)
	assert.Nil(t, rs)
	v, err := client.CPE.Validar(t.Context(), factura, credenciales)
	require.Error(t, err)
	assert.Nil(t, v)
	tc, err := client.TipoCambio.Hoy(t.Context())
	require.Error(t, err)
	assert.Nil(t, tc)
}

func TestANilContextIsRefused(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "consultar_200.json")))
	//lint:ignore SA1012 the point of the test
	_, err := client.Contribuyentes.Consultar(nil, rucSUNAT) //nolint:staticcheck // the point of the test
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	assert.Empty(t, s.seen())
}

// A real server and real sockets: what the in-memory tests take for granted.
func TestOverARealSocket(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, apiKey, r.Header.Get("X-API-KEY"))
		w.Header().Set("X-RateLimit-Limit", "1000")
		_, _ = w.Write([]byte(contract(t, "consultar_200.json")))
	}))
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	assert.Equal(t, rucSUNAT, c.RUC)
	assert.Equal(t, 1000, client.RateLimit().Limit)

	srv.Close()
	client.CloseIdleConnections() // or the request may leave on a connection that just died: unknown
	err = operations["validar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery, "no connection, so nothing was sent")
	assert.NotContains(t, err.Error(), "/api/")
}
