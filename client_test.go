package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestNewClientRefusesABaseURL(t *testing.T) {
	const copied = "a blank, a backslash or a character that does not show"
	for says, urls := range map[string][]string{
		"is empty":                {""},
		"no https://":             {"api.example.com", "localhost:8080", "https:api.example.com"},
		"cannot be parsed":        {"https://exa mple\x7f", "https://api.example.com:https"},
		"no host":                 {"https:///api", "https://:443"},
		`the scheme "ftp"`:        {"ftp://api.example.com"},
		"carries a user":          {"https://user:topsecret@api.example.com", "https://user:topsecret@api.example.com:99999"},
		"query or a fragment":     {"https://api.example.com?key=topsecret", "https://api.example.com?", "https://api.example.com#x", "https://api.example.com/#"},
		"a blank before or after": {"https://api.example.com/ ", " https://api.example.com", "https://api.example.com/\u00a0", "https://api.example.com\n"},
		copied: {
			"https://api.example.com/a b", "https://api.example.com/%20", "https://api.example.com/%0d%0aX", "https://\ufeffapi.example.com", "https://api.example.com/\u200b",
			"https://api.example.com/\xff", `https://api.example.com/fiscal\v2`, "https://api.example.com/a%5cb", "https://api.example.com/{version}", "https://api.example.com/<base>",
		},
		"an invalid port":     {"https://api.example.com:99999", "https://api.example.com:0", "https://api.example.com:", "https://[::1]:"},
		". or .. in its path": {"https://api.example.com/../a", "https://api.example.com/a/%2e%2E", "https://api.example.com/a%2f..", "https://api.example.com/./a"},
		"an empty part":       {"https://api.example.com//a"},
		"neither a name nor an address": {
			"https://api,example.com", "https://...", "https://api..example.com", "https://256.1.1.1", "https://" + strings.Repeat("a", 64) + ".example.com",
		},
		"in clear": { // also other spellings of this machine, for which net/http asks for a proxy
			"http://api.example.com", "http://192.0.2.7:8080", "http://localhost.example.com", "http://api.localhost", "http://localhost.", "http://localhost。", "http://ⓛocalhost",
			"http://127.1", "http://0x7f.0.0.1", "http://0177.0.0.1", "http://2130706433", "http://127.0.0.1.", "http://[::1%25lo]", "http://0.0.0.0:8080", "http://[::]:8080",
		},
	} {
		for _, url := range urls {
			client, err := fiscope.NewClient(url, apiKey)
			assert.Nil(t, client)
			require.ErrorContains(t, err, says, url)
			assert.NotRegexp(t, "topsecret|\n", err.Error(), url)
		}
	}
}

func TestNewClientAcceptsABaseURL(t *testing.T) {
	for _, url := range []string{
		"https://api.example.com", "https://api.example.com/", "https://api.example.com/fiscal/v2", "HTTPS://api.example.com:65535//",
		"https://api.example.com:1", "https://api.example.com./", "https://api_1.example-2.com:8443", "https://192.0.2.7", "https://[2001:db8::1]:443/a",
		"https://[fe80::1%25eth0]", "https://xn--and-6ma2c.example", "https://ñandú.example/año", "https://api.example.com/a+b..c/...", "https://api.example.com/a..b/.c",
		"http://127.0.0.1:8080", "http://127.9.9.9", "http://localhost:8080", "http://LOCALHOST:8080", "HTTP://localhost", "http://[::1]:8080", "http://[::ffff:127.0.0.1]:8080",
	} {
		_, err := fiscope.NewClient(url, apiKey)
		assert.NoError(t, err, url)
	}
}

func TestWithInsecureHTTP(t *testing.T) {
	_, err := fiscope.NewClient("http://fiscal.internal:8080", apiKey, fiscope.WithInsecureHTTP())
	require.NoError(t, err)
	_, err = fiscope.NewClient("ftp://fiscal.internal", apiKey, fiscope.WithInsecureHTTP())
	require.Error(t, err)
}

func TestNewClientFromEnv(t *testing.T) {
	insecure := map[string]string{"FISCOPE_BASE_URL": "http://fiscal.internal:8080", "FISCOPE_API_KEY": apiKey}
	sound := map[string]string{"FISCOPE_BASE_URL": baseURL, "FISCOPE_API_KEY": apiKey}
	sol := map[string]string{"FISCOPE_SOL_RUC": rucSUNAT, "FISCOPE_SOL_USUARIO": "MIUSER01", "FISCOPE_SOL_CLAVE": clave}
	for name, test := range map[string]struct {
		variables []map[string]string
		says      string // "" for a client
		sends     string // in the body of a validation without credentials; "" for none sent
	}{
		"nothing":              {nil, "FISCOPE_BASE_URL", ""},
		"no key":               {[]map[string]string{sound, {"FISCOPE_API_KEY": ""}}, "FISCOPE_API_KEY", ""},
		"in clear":             {[]map[string]string{insecure}, "in clear", ""},
		"in clear, permitted":  {[]map[string]string{insecure, sol, {"FISCOPE_INSECURE_HTTP": "1"}}, "", clave},
		"in clear, true":       {[]map[string]string{insecure, sol, {"FISCOPE_INSECURE_HTTP": "true"}}, "", clave},
		"in clear, 0":          {[]map[string]string{insecure, {"FISCOPE_INSECURE_HTTP": "0"}}, "in clear", ""},
		"SOL credentials":      {[]map[string]string{sound, sol}, "", clave},
		"two of the three":     {[]map[string]string{sound, sol, {"FISCOPE_SOL_CLAVE": ""}}, "", ""},
		"invalid credentials":  {[]map[string]string{sound, sol, {"FISCOPE_SOL_RUC": "1"}}, "FISCOPE_SOL_RUC", ""},
		"an option that fails": {[]map[string]string{sound, {"FISCOPE_API_KEY": "a\nb"}}, "FISCOPE_API_KEY", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"FISCOPE_BASE_URL", "FISCOPE_API_KEY", "FISCOPE_INSECURE_HTTP", "FISCOPE_SOL_RUC", "FISCOPE_SOL_USUARIO", "FISCOPE_SOL_CLAVE"} {
				t.Setenv(variable, "")
			}
			for _, variables := range test.variables {
				for variable, value := range variables {
					t.Setenv(variable, value)
				}
			}
			s := &service{answers: []handler{raw(200, verdict)}}
			client, err := fiscope.NewClientFromEnv(fiscope.WithHTTPClient(&http.Client{Transport: s}))
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			_, err = client.CPE.Validar(t.Context(), factura, fiscope.CredencialesSOL{})
			if test.sends == "" {
				require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, s.requests[0].body, test.sends)
			assert.Equal(t, apiKey, s.requests[0].header.Get("X-API-KEY"))
		})
	}
}

func TestANilCallOptionIsRefused(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "consultar_200.json")))
	require.ErrorIs(t, operations["consultar"](t.Context(), client, nil), fiscope.ErrInvalidRequest)
	assert.Empty(t, s.seen())
}

func TestAPathInTheBaseURLIsAPrefix(t *testing.T) {
	for given, want := range map[string]string{"HTTPS://API.Example.com/Fiscal//": "https://api.example.com/Fiscal", "http://LocalHost:8080": "http://localhost:8080", "https://x.example/a%C3%B1o": "https://x.example/a%C3%B1o"} {
		s := &service{answers: []handler{raw(200, record)}}
		client, err := fiscope.NewClient(given, apiKey, fiscope.WithHTTPClient(&http.Client{Transport: s}))
		require.NoError(t, err)
		require.NoError(t, operations["consultar"](t.Context(), client))
		assert.Equal(t, want+"/api/contribuyentes/20131312955", s.seen()[0].url)
	}
}

func TestNewClientRefusesAnAPIKeyAndDoesNotShowIt(t *testing.T) {
	for _, key := range []string{"", "   ", "topsecret\n", " topsecret", "topsecret\r\nX-Evil: 1", "topsecret\x00", "[secreto]"} {
		_, err := fiscope.NewClient(baseURL, key)
		require.Error(t, err)
		assert.False(t, strings.Contains(err.Error(), "topsecret"), "the error shows the key")
	}
}

func TestNewClientRefusesAnOption(t *testing.T) {
	for name, opt := range map[string]fiscope.Option{
		"no HTTP client": fiscope.WithHTTPClient(nil), "no user agent": fiscope.WithUserAgent(" "), "a header in it": fiscope.WithUserAgent("x\r\nX-Evil: 1"),
		"no rate": fiscope.WithRateLimit(0, 1), "no burst": fiscope.WithRateLimit(1, 0), "a rate below zero": fiscope.WithRateLimit(-1, 1),
		"no time for a GET": fiscope.WithTimeout(0), "no time for a CPE": fiscope.WithCPETimeout(0), "a cache below zero": fiscope.WithCache(fiscope.CachePolicy{Entries: -1}),
		"no observer": fiscope.WithObserver(nil), "no logger": fiscope.WithLogger(nil),
		"no hook": fiscope.WithHook(nil), "no SOL user": fiscope.WithSOL(fiscope.CredencialesSOL{RUC: rucSUNAT}), "retries below zero": fiscope.WithMaxRetries(-1), "an option that's nil": nil,
	} {
		_, err := fiscope.NewClient(baseURL, apiKey, opt)
		require.Error(t, err, name)
	}
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithTimeout(1), fiscope.WithCPETimeout(1), fiscope.WithRateLimit(1, 1), fiscope.WithMaxRetries(0))
	require.NoError(t, err, "the least")
}

func TestTheCallersHTTPClientIsNotChanged(t *testing.T) {
	s := &service{answers: []handler{raw(307, "", "Location: https://ladron.example/", "Set-Cookie: a=b")}}
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

func TestWithResponseTellsOfASuccessAndOfAFailure(t *testing.T) {
	client, _ := answers(t,
		raw(200, contract(t, "consultar_200.json"), "X-RateLimit-Remaining: 7", "X-Trace: abc"),
		raw(404, contract(t, "consultar_404.json")),
	)
	var resp fiscope.Response
	require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "abc", resp.Header.Get("X-Trace"))
	assert.Equal(t, new(7), resp.RateLimit.Remaining)
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

func TestANilContextIsAnInvalidRequest(t *testing.T) {
	var none context.Context
	for name, opts := range map[string][]fiscope.Option{
		"alone":     nil,
		"with more": {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithObserver(func(ctx context.Context, _ fiscope.Event) { _ = ctx.Err() }), fiscope.WithLogger(slog.New(slog.DiscardHandler))},
	} {
		client := newClient(t, raw(200, record), opts...)
		require.NoError(t, operations["consultar"](t.Context(), client)) // it may be in the cache now
		errs := []error{
			second(client.TipoCambio.UltimoPublicado(none, viernes)), second(client.TipoCambio.SUNAT(none, viernes)),
			second(client.CPE.Esperar(none, factura, credenciales, fiscope.EsperaPolicy{})),
		}
		for _, do := range operations {
			errs = append(errs, do(none, client))
		}
		for _, err := range client.TipoCambio.Mes(none, 2026, 10) {
			errs = append(errs, err)
		}
		for _, err := range client.Contribuyentes.ConsultarLote(none, slices.Values([]string{rucSUNAT}), fiscope.LotePolicy{}) {
			errs = append(errs, err)
		}
		for _, err := range client.CPE.ValidarLote(none, slices.Values([]fiscope.Comprobante{factura}), credenciales, fiscope.LotePolicy{}) {
			errs = append(errs, err)
		}
		for _, err := range errs {
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
			assert.ErrorContains(t, err, "the context is nil")
		}
		assert.EqualValues(t, 1, client.Stats().Sent)
	}
}

func TestSlogShowsAClientAsItsBaseURL(t *testing.T) {
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "client", newClient(t, nil))
	assert.Contains(t, out.String(), "client="+baseURL)
}

func TestHoyGoesByTheClientsClock(t *testing.T) {
	client := newClient(t, nil, fiscope.WithClock(func() time.Time { return time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC) }))
	assert.Equal(t, fiscope.NewFecha(2026, time.November, 20), client.Hoy())
}
