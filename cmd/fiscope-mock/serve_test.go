package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver"
)

// ask sends one request, JSON if there is a body, with the default key on a service path.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if !strings.Contains(url, "/_mock/") {
		req.Header.Set("X-API-KEY", "clave-de-prueba")
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(got)
}

func TestServesDataAtATime(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"contribuyentes": [{"ruc": "20600000005", "razonSocial": "PRUEBA S.A.C."}]}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte(`{"tiposCambio": [{"fecha": "2026-11-20", "compra": 3.750, "venta": 3.760}], "keys": [{"key": "clave-de-prueba", "quota": 3}]}`), 0o600))
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-data", dir, "-now", "2026-11-20T16:59:59-05:00", "-frozen", "-api-key", "clave-de-prueba=50")
	status, body := ask(t, "GET", url+"/api/contribuyentes/20600000005", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, body, "PRUEBA S.A.C.")
	status, _ = ask(t, "GET", url+"/api/tipocambio", "")
	assert.Equal(t, 404, status, "a second before it is published")
	status, _ = ask(t, "POST", url+"/_mock/clock/advance", `{"by": "1s"}`)
	assert.Equal(t, 200, status)
	_, body = ask(t, "GET", url+"/api/tipocambio", "")
	assert.Contains(t, body, `"compra":3.750`)
	_, limit := lookup(t, url, "clave-de-prueba")
	assert.Equal(t, "50", limit, "a flag's quota wins over the file's")
}

// Without its slash the path of the admin API is no path of the service.
func TestTheAdminAPIWithoutItsSlash(t *testing.T) {
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off")
	for path, near := range map[string]string{"/_mock": "GET /_mock/?", "/_mock?x=1": "GET /_mock/?", "/_mock//data": "GET /_mock/data?"} {
		status, body := ask(t, "GET", url+path, "")
		assert.Equal(t, 404, status)
		assert.Contains(t, body, "¿quiso decir "+near)
		assert.Contains(t, body, "MOCK_ADMIN_NO_ROUTE")
	}
	status, body := ask(t, "GET", url+"/_mocks", "")
	assert.Equal(t, 404, status)
	assert.Contains(t, body, "MOCK_NO_ROUTE", "the service's")
	_, body = ask(t, "GET", url+"/_mock/requests", "")
	assert.Contains(t, body, "/_mocks")
	assert.NotContains(t, body, `"/_mock"`)
}

// The program lives for days: what stalls does not hold its connections.
func TestTheProgramCutsWhatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock, err := mockserver.Start(mockserver.WithoutSocket())
		require.NoError(t, err)
		defer mock.Close()
		r := &running{mock: mock}
		ln := &pipes{dialled: make(chan net.Conn, 1), closed: make(chan struct{})}
		server := serve.Start(ln, r.config(mock, slog.New(slog.DiscardHandler)))
		defer func() { _ = server.Close(t.Context()) }()
		for name, c := range map[string]struct {
			sends string
			after time.Duration
		}{
			"nothing":           {"", time.Minute},
			"half of a header":  {"GET /api/tipocambio HT", time.Minute},
			"half of a body":    {"POST /api/cpe/validar HTTP/1.1\r\nHost: a\r\nX-API-KEY: " + mock.APIKey + "\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", time.Minute},
			"nothing once more": {"GET /api/tipocambio HTTP/1.1\r\nHost: a\r\n\r\n", 5 * time.Minute},
		} {
			client, conn := net.Pipe()
			ln.dialled <- conn
			began := time.Now()
			go func() { _, _ = io.WriteString(client, c.sends) }()
			_, _ = io.Copy(io.Discard, client)
			assert.InDelta(t, c.after, time.Since(began), float64(time.Second), name) // net/http may linger before it closes
			_ = client.Close()
		}
	})
}

// pipes is a listener of connections without a socket.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialled:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// What a flag says of a quota wins over a data file; a key that only the file names keeps the file's.
func TestAQuotaBesideADataFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "datos.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"keys": [{"key": "clave-de-prueba", "quota": 1000}, {"key": "clave-a", "quota": 30}, {"key": "clave-z", "quota": 40}]}`), 0o600))
	for name, c := range map[string]struct {
		args string
		want map[string]string
	}{
		"-quota":                     {"-quota 2", map[string]string{"clave-de-prueba": "2", "clave-z": "40"}},
		"-assume":                    {"-assume Quota=2", map[string]string{"clave-de-prueba": "2", "clave-z": "40"}},
		"-assume, the default":       {"-assume quota=1000 -api-key clave-a", map[string]string{"clave-a": "1000", "clave-z": "40", "clave-de-prueba": "1000"}},
		"both, the same":             {"-quota 2 -assume Quota=2", map[string]string{"clave-de-prueba": "2"}},
		"neither":                    {"-assume BlockAfter=9", map[string]string{"clave-de-prueba": "1000", "clave-z": "40"}},
		"neither, another key":       {"-api-key clave-z", map[string]string{"clave-z": "40"}},
		"a key's own":                {"-quota 2 -api-key clave-z=5", map[string]string{"clave-z": "5", "clave-a": "30"}},
		"another own key":            {"-quota 2 -api-key clave-z", map[string]string{"clave-z": "2", "clave-a": "30"}},
		"a second key":               {"-quota 2 -api-key clave-z -api-key clave-a", map[string]string{"clave-z": "2", "clave-a": "2"}},
		"a second key without quota": {"-api-key clave-b=5 -api-key clave-a -api-key clave-c", map[string]string{"clave-b": "5", "clave-a": "30", "clave-c": "1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serving(t, vars(), append([]string{"-addr", "127.0.0.1:0", "-log", "off", "-data", file}, strings.Fields(c.args)...)...)
			for key, want := range c.want {
				status, limit := lookup(t, url, key)
				assert.Equal(t, 200, status, key)
				assert.Equal(t, want, limit, key)
			}
		})
	}
}
