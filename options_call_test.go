package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestTimeoutsOfAClientAndOfACall(t *testing.T) {
	get, cpe := fiscope.WithTimeout(2*time.Second), fiscope.WithCPETimeout(3*time.Second)
	for name, test := range map[string]struct {
		client     []fiscope.Option
		call       []fiscope.CallOption
		query, cpe time.Duration
	}{
		"by default":             {nil, nil, 10 * time.Second, 30 * time.Second},
		"of a client":            {[]fiscope.Option{get, cpe}, nil, 2 * time.Second, 3 * time.Second},
		"of a call":              {nil, []fiscope.CallOption{get, cpe}, 2 * time.Second, 3 * time.Second},
		"the call's counts":      {[]fiscope.Option{fiscope.WithTimeout(time.Hour)}, []fiscope.CallOption{get}, 2 * time.Second, 30 * time.Second},
		"that of an http.Client": {[]fiscope.Option{fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(hangs), Timeout: time.Second})}, []fiscope.CallOption{get, cpe}, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, roundTripper(hangs), append(test.client, fiscope.WithMaxRetries(0))...)
				start := time.Now()
				_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, test.call...)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				require.ErrorContains(t, err, fmt.Sprintf("no answer within %s: context deadline exceeded", test.query))
				assert.Equal(t, test.query, time.Since(start))
				start = time.Now()
				_, err = client.CPE.Validar(t.Context(), factura, credenciales, test.call...)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				assert.Equal(t, test.cpe, time.Since(start))
			})
		})
	}
}

func TestRetriesOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []handler{raw(503, "")}}
		client := newClient(t, s)
		for calls, n := range []int{0, 1, 4} {
			before := len(s.seen())
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithMaxRetries(n))
			require.Error(t, err)
			assert.Equal(t, n+1, len(s.seen())-before, calls)
		}
	})
}

// The header reaches the service, and its value shows nowhere.
func TestAHeaderOfTheCaller(t *testing.T) {
	const token = "gateway-token"
	var got []http.Header
	echo := roundTripper(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.Header.Clone())
		return raw(400, `{"error":"no sirve `+token+`","code":"MAL"}`)(r)
	})
	client := newClient(t, echo, fiscope.WithHeader("x-gateway", token))
	_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithHeader("X-Request-ID", "7"))
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	assert.NotContains(t, err.Error(), token)
	_, err = newClient(t, echo).Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithHeader("X-Gateway", token))
	assert.NotContains(t, err.Error(), token)
	_, _ = client.CPE.Validar(t.Context(), factura, credenciales, fiscope.WithHeader("X-Gateway", "another"))
	require.Len(t, got, 3)
	assert.Equal(t, []string{token}, got[0]["X-Gateway"])
	assert.Equal(t, []string{"7"}, got[0]["X-Request-Id"])
	assert.Nil(t, got[2]["X-Request-Id"], "it was of one call")
	assert.Equal(t, []string{"another"}, got[2]["X-Gateway"])
	assert.Equal(t, []string{apiKey}, got[2]["X-Api-Key"])

	var log strings.Builder
	fails := registro(func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
		return nil, fiscope.Fecha{}, errors.New("no sirve " + token)
	})
	_, err = newClient(t, roundTripper(raw(501, "")), fiscope.WithHeader("X-Gateway", token), fiscope.WithRespaldo(fails), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).
		Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	assert.Contains(t, log.String(), "the Respaldo failed")
	assert.NotContains(t, log.String(), token)

	for name, value := range map[string]string{
		"X-API-KEY": "x", "content-type": "x", "Content-Length": "1", "host": "x", "Accept": "x", "user-agent": "x",
		"": "x", "X Y": "x", "X:": "x", "X-A": "a\r\nX-B: b",
	} {
		_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithHeader(name, value))
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
		_, err = client.Contribuyentes.Consultar(context.Background(), rucSUNAT, fiscope.WithHeader(name, value))
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	assert.Len(t, got, 3, "a wrong one sends nothing")
}
