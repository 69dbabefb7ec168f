package mockserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// These tests speak HTTP with net/http and read bytes, never with the SDK nor with this package's own
// structs: a wrong field name must be able to fail.

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   string
}

// object decodes a JSON object, numbers kept as written.
func (r reply) object(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(r.body))
	d.UseNumber()
	require.NoError(t, d.Decode(&m), "body: %s", r.body)
	return m
}

func (r reply) code(t *testing.T) string {
	t.Helper()
	code, _ := r.object(t)["code"].(string)
	return code
}

// isError checks what every error answer owes: the status, JSON of exactly error and code, none empty.
func (r reply) isError(t *testing.T, status int, code string) {
	t.Helper()
	require.Equal(t, status, r.status, "body: %s", r.body)
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	m := r.object(t)
	require.Len(t, m, 2, "body: %s", r.body)
	require.Equal(t, code, m["code"], "body: %s", r.body)
	require.NotEmpty(t, m["error"])
}

// api is a plain HTTP client of one server.
type api struct {
	t   *testing.T
	url string
	key string
	hc  *http.Client
}

// start makes a server without a socket and a client for it.
func start(t *testing.T, opts ...mockserver.Option) (*mockserver.Server, api) {
	t.Helper()
	srv := mockserver.New(t, append([]mockserver.Option{mockserver.WithoutSocket()}, opts...)...)
	return srv, plain(t, srv)
}

func plain(t *testing.T, srv *mockserver.Server) api {
	return api{t, srv.URL, srv.APIKey, &http.Client{
		Transport:     srv.Transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (a api) withKey(key string) api {
	a.key = key
	return a
}

func (a api) send(method, path, body string, header ...string) reply {
	a.t.Helper()
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	require.NoError(a.t, err)
	if a.key != "" {
		req.Header.Set("X-API-KEY", a.key)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := a.hc.Do(req)
	require.NoError(a.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	return reply{resp.StatusCode, resp.Header, string(raw)}
}

// try sends a request that may fail, and returns the status, the body and the error of either.
func (a api) try(method, path, body string) (reply, error) {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("X-API-KEY", a.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.hc.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(raw)}, err
}

func (a api) get(path string) reply {
	a.t.Helper()
	return a.send("GET", path, "")
}

func (a api) validar(body string) reply {
	a.t.Helper()
	return a.send("POST", "/api/cpe/validar", body, "Content-Type", "application/json")
}

// waits reports whether a preset takes real time.
func waits(p mockserver.Preset) bool {
	return slices.Contains([]mockserver.Preset{mockserver.Hang, mockserver.HangInside, mockserver.Slow, mockserver.SUNATSlow}, p)
}

// four is one request of each operation, right in all but the key.
func four(t *testing.T, a api) map[string]func() reply {
	return map[string]func() reply{
		"lookup":        func() reply { return a.get("/api/contribuyentes/20131312955") },
		"search":        func() reply { return a.get("/api/contribuyentes/search?razonSocial=sunat") },
		"validation":    func() reply { return a.validar(cpe(t)) },
		"exchange rate": func() reply { return a.get("/api/tipocambio?fecha=2024-02-29") },
	}
}

// cpe is a body that the default data accept, with fields replaced: "name", "raw JSON", ... An empty
// value leaves the field out.
func cpe(t *testing.T, replace ...string) string {
	t.Helper()
	fields := []string{
		"rucEmisor", `"20100070970"`, "tipoComprobante", `"01"`, "serie", `"F001"`, "numero", `123`,
		"rucSolicitante", `"20131312955"`, "usuarioSol", `"MIUSER01"`, "claveSol", `"clave-mock-1"`,
	}
	for i := 0; i < len(replace); i += 2 {
		for j := 0; j < len(fields); j += 2 {
			if fields[j] == replace[i] {
				fields[j+1] = replace[i+1]
			}
		}
	}
	var members []string
	for j := 0; j < len(fields); j += 2 {
		if fields[j+1] != "" {
			members = append(members, `"`+fields[j]+`":`+fields[j+1])
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

const lookup = "/api/contribuyentes/20131312955"

func remaining(r reply) string { return r.header.Get("X-RateLimit-Remaining") }

// at parses an instant such as 2026-11-20T17:00:00-05:00.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return instant
}

// frozen is a clock that stands still.
func frozen(t *testing.T, text string) mockserver.Option {
	t.Helper()
	instant := at(t, text)
	return mockserver.WithClock(func() time.Time { return instant })
}

// waitUntil passes the virtual time of a synctest bubble.
func waitUntil(t *testing.T, text string) {
	t.Helper()
	time.Sleep(time.Until(at(t, text)))
}
