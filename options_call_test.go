package fiscope_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// The header reaches the service, and its value shows nowhere.
func TestAHeaderOfTheCaller(t *testing.T) {
	const token = "gw-token"
	var got []http.Header
	echo := handler(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.Header.Clone())
		return raw(400, `{"error":"no sirve `+token+`","code":"MAL"}`)(r)
	})
	client := newClient(t, echo, fiscope.WithHeader("x-gateway", token))
	_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithHeader("X-Request-ID", "7\t ~"))
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	assert.NotContains(t, err.Error(), token)
	_, err = newClient(t, echo, fiscope.WithUserAgent("facturador/2.1 (~)")).Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithHeader("X-Gateway", token))
	assert.NotContains(t, err.Error(), token)
	_, _ = client.CPE.Validar(t.Context(), factura, credenciales, fiscope.WithHeader("X-Gateway", "another"))
	require.Len(t, got, 3)
	assert.Equal(t, []string{token}, got[0]["X-Gateway"])
	assert.Equal(t, "fiscope-go/devel, facturador/2.1 (~)", got[0].Get("User-Agent")+", "+got[1].Get("User-Agent"))
	assert.Equal(t, []string{"7\t ~"}, got[0]["X-Request-Id"])
	assert.Nil(t, got[2]["X-Request-Id"], "it was of one call")
	assert.Equal(t, []string{"another"}, got[2]["X-Gateway"])
	assert.Equal(t, []string{apiKey}, got[2]["X-Api-Key"])

	var log strings.Builder
	fails := registro(func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
		return nil, fiscope.Fecha{}, errors.New("no sirve " + token)
	})
	_, err = newClient(t, raw(501, ""), fiscope.WithHeader("X-Gateway", token), fiscope.WithRespaldo(fails), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).
		Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	assert.Contains(t, log.String(), "the Respaldo failed")
	assert.NotContains(t, log.String(), token)

	for name, value := range map[string]string{
		"X-API-KEY": "x", "content-type": "x", "Content-Length": "1", "host": "x", "Accept": "x", "user-agent": "x",
		"": "x", "X Y": "x", "X:": "x", "X-A": "a\r\nX-B: b", "X-C": "\x1f", "X-D": "\x7f",
	} {
		_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHeader(name, value))
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
		_, err = client.Contribuyentes.Consultar(context.Background(), rucSUNAT, fiscope.WithHeader(name, value))
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	assert.Len(t, got, 3, "a wrong one sends nothing")
}
