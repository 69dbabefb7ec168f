package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
