package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestNewClientRefusesABaseURL(t *testing.T) {
	for name, test := range map[string]struct{ url, says string }{
		"empty":                     {"", "is empty"},
		"no scheme":                 {"api.example.com", "no https://"},
		"not a URL":                 {"https://exa mple\x7f", "cannot be parsed"},
		"no host":                   {"https:///api", "no host"},
		"a port alone":              {"https://:443", "no host"},
		"another scheme":            {"ftp://api.example.com", `"ftp"`},
		"opaque":                    {"https:api.example.com", "no https://"},
		"a user":                    {"https://user:topsecret@api.example.com", "carries a user"},
		"a query":                   {"https://api.example.com?key=topsecret", "query or a fragment"},
		"an empty query":            {"https://api.example.com?", "query or a fragment"},
		"an empty fragment":         {"https://api.example.com/#", "query or a fragment"},
		"a fragment":                {"https://api.example.com#x", "query or a fragment"},
		"http to a machine":         {"http://api.example.com", "in clear"},
		"http to a network":         {"http://192.0.2.7:8080", "in clear"},
		"a name like it":            {"http://localhost.example.com", "in clear"},
		"a blank at the end":        {"https://api.example.com/ ", "a blank"},
		"a blank before it":         {" https://api.example.com", "a blank before or after"},
		"a host and a port":         {"localhost:8080", "no https://"},
		"an address and a port":     {"127.0.0.1:8080", "no https://"},
		"a blank in the path":       {"https://api.example.com/a b", "a blank"},
		"a blank in the host":       {"https://api.exa mple.com", ""},
		"a blank that is none":      {"https://api.example.com/\u00a0", "a blank"},
		"a blank after the host":    {"https://api.example.com\u00a0", "a blank"},
		"a mark in the host":        {"https://\ufeffapi.example.com", "a blank, a backslash or a character that does not show"},
		"what does not show":        {"https://api.example.com/\u200b", "a blank, a backslash or a character that does not show"},
		"a soft hyphen in the host": {"https://api.exam\u00adple.com", "a blank, a backslash or a character that does not show"},
		"a line break":              {"https://api.example.com/\n", ""},
		"a tab":                     {"https://api.example.com/\t", ""},
		"bytes that are no text":    {"https://api.example.com/\xff", "a blank, a backslash or a character that does not show"},
		"a backslash":               {`https://api.example.com\fiscal`, ""},
		"a backslash in the path":   {`https://api.example.com/fiscal\v2`, "backslash"},
		"a port that is none":       {"https://api.example.com:99999", "port"},
		"a port just too high":      {"https://api.example.com:65536", "port"},
		"a port with many digits":   {"https://api.example.com:99999999999999999999", "port"},
		"port 0":                    {"https://api.example.com:0", "port"},
		"port 000":                  {"https://api.example.com:000/x", "port"},
		"no port":                   {"https://api.example.com:", "port"},
		"no port of an address":     {"https://[::1]:", "port"},
		"no port, a path":           {"https://api.example.com:/fiscal", "port"},
		"a port in letters":         {"https://api.example.com:https", "cannot be parsed"},
		"a user, and a port":        {"https://user:topsecret@api.example.com:99999", "carries a user"},
		"a way up":                  {"https://api.example.com/../a", "path"},
		"a way up at the end":       {"https://api.example.com/a/..", "path"},
		"a way up, escaped":         {"https://api.example.com/%2e%2E/a", "path"},
		"a way up, a slash escaped": {"https://api.example.com/a%2f..", "path"},
		"a way up, half escaped":    {"https://api.example.com/a/.%2e/b", "path"},
		"a dot":                     {"https://api.example.com/./a", "path"},
		"a backslash, escaped":      {"https://api.example.com/a%5c..%5cb", "backslash"},
		"a blank, escaped":          {"https://api.example.com/%20", "a blank"},
		"a line break, escaped":     {"https://api.example.com/%0d%0aX", "a blank"},
		"a NUL, escaped":            {"https://api.example.com/%00", "a blank, a backslash or a character that does not show"},
		"a host of other signs":     {"https://api,example.com", "host"},
		"a host of quotes":          {`https://"api.example.com"`, "host"},
		"two hosts":                 {"https://a.example;b.example", "host"},
		"a host of dots":            {"https://...", "host"},
		"a name with an empty part": {"https://api..example.com", "host"},
		"a number for a host":       {"https://256.1.1.1", "host"},
		"a name that is too long":   {"https://" + strings.Repeat("a", 64) + ".example.com", "host"},
		"an empty part of the path": {"https://api.example.com//a", "empty part"},
		"an angle bracket":          {"https://api.example.com/<base>", "no place"},
		"a brace":                   {"https://api.example.com/{version}", "no place"},
		"a name under it":           {"http://api.localhost", "in clear"},
		"a final dot":               {"http://localhost.", "in clear"},
		"both":                      {"http://API.LOCALHOST.:8080", "in clear"},
		"another dot":               {"http://localhost。", "in clear"},
		"a round letter":            {"http://ⓛocalhost", "in clear"},
		"dots of an IP":             {"http://127。0。0。1", "in clear"},
		"a short IP":                {"http://127.1", "in clear"},
		"a hexadecimal IP":          {"http://0x7f.0.0.1", "in clear"},
		"an octal IP":               {"http://0177.0.0.1", "in clear"},
		"an IP in one":              {"http://2130706433", "in clear"},
		"an IP and a dot":           {"http://127.0.0.1.", "in clear"},
		"an IP with a zone":         {"http://[::1%25lo]", "in clear"},
		"any address":               {"http://0.0.0.0:8080", "in clear"},
		"any in IPv6":               {"http://[::]:8080", "in clear"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := fiscope.NewClient(test.url, apiKey)
			assert.Nil(t, client)
			require.ErrorContains(t, err, test.says)
			assert.NotContains(t, err.Error(), "topsecret")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestNewClientAcceptsABaseURL(t *testing.T) {
	for _, url := range []string{
		"https://api.example.com", "https://api.example.com/", "https://api.example.com/fiscal/v2", "HTTPS://api.example.com:65535//",
		"https://api.example.com:1", "https://api.example.com./", "https://api_1.example-2.com:8443", "https://192.0.2.7", "https://[2001:db8::1]:443/a",
		"https://[fe80::1%25eth0]", "https://xn--and-6ma2c.example", "https://ñandú.example/año", "https://api.example.com/a+b..c/...", "https://api.example.com/a..b/.c",
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
		"no context observer":  fiscope.WithContextObserver(nil),
		"no logger":            fiscope.WithLogger(nil),
		"no hook":              fiscope.WithHook(nil),
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
	assert.Equal(t, "fiscope-go/devel", s.seen()[0].header.Get("User-Agent"), "of a test, which is of no version")
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

func TestANilContextIsAnInvalidRequestWithEveryOption(t *testing.T) {
	var none context.Context
	for name, opts := range map[string][]fiscope.Option{
		"alone":           nil,
		"a cache":         {fiscope.WithCache(fiscope.CachePolicy{})},
		"coalescing":      {fiscope.WithCoalescing()},
		"cache, observer": {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithObserver(func(fiscope.Event) {}), fiscope.WithLogger(slog.New(slog.DiscardHandler))},
	} {
		for op, do := range operations {
			t.Run(name+" "+op, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, contract(t, fileOf[op]))}}
				client := newClient(t, s, opts...)
				require.NoError(t, do(t.Context(), client)) // it may be in the cache now
				for range 2 {
					err := do(none, client)
					require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
					assert.ErrorContains(t, err, "the context is nil")
				}
				assert.Len(t, s.seen(), 1)
			})
		}
		t.Run(name+" the operations made of others", func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, price)}}
			client := newClient(t, s, opts...)
			_, err := client.TipoCambio.UltimoPublicado(none, viernes)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			_, err = client.TipoCambio.SUNAT(none, viernes)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			_, err = client.CPE.Esperar(none, factura, credenciales, fiscope.EsperaPolicy{})
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			for _, err := range client.TipoCambio.Mes(none, 2026, 10) {
				require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			}
			for _, err := range client.Contribuyentes.ConsultarLote(none, slices.Values([]string{rucSUNAT}), fiscope.LotePolicy{}) {
				require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			}
			for _, err := range client.CPE.ValidarLote(none, slices.Values([]fiscope.Comprobante{factura}), credenciales, fiscope.LotePolicy{}) {
				require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			}
			assert.Empty(t, s.seen())
		})
	}
}
