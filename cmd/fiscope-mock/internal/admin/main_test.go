package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// remote is a server with its API, reached without a socket.
type remote struct {
	t    *testing.T
	mock *mockserver.Server
	api  http.Handler
	log  *bytes.Buffer
	end  context.CancelFunc
}

func start(t *testing.T, opts ...mockserver.Option) remote {
	t.Helper()
	// Not New, which would fail the test for what the API refuses.
	mock, err := mockserver.Start(append([]mockserver.Option{mockserver.WithoutSocket(), mockserver.WithKey("s3creta", 5)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, mock.Close()) })
	ending, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	log := new(bytes.Buffer)
	return remote{t, mock, New(Config{
		Mock: mock, Log: slog.New(slog.NewTextHandler(log, nil)), Ending: ending,
	}), log, end}
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   string
}

// recorder is an http.ResponseWriter.
type recorder struct {
	reply
	b bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.b.Write(p) }

// do sends a request to the API; each pair of extra is a header.
func (r remote) do(method, path, body string, extra ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://mock/_mock/"+path, strings.NewReader(body))
	require.NoError(r.t, err)
	if method == http.MethodPost || method == http.MethodPut {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(extra); i += 2 {
		req.Header.Set(extra[i], extra[i+1])
	}
	w := &recorder{reply: reply{status: 200, header: http.Header{}}}
	r.api.ServeHTTP(w, req)
	w.body = w.b.String()
	if path != "data" && path != "" {
		assert.NotContains(r.t, w.body, "s3creta", "a key")
		assert.NotContains(r.t, w.body, mockserver.ClaveSOL, "a clave")
	}
	return w.reply
}

// ok sends a request that must be well, and decodes the answer.
func (r remote) ok(into any, method, path, body string, extra ...string) {
	r.t.Helper()
	got := r.do(method, path, body, extra...)
	if into == nil {
		require.Equal(r.t, 204, got.status, got.body)
		require.Empty(r.t, got.body)
		return
	}
	require.Equal(r.t, 200, got.status, got.body)
	require.Equal(r.t, "application/json", got.header.Get("Content-Type"))
	require.NoError(r.t, json.Unmarshal([]byte(got.body), into), got.body)
}

// isProblem checks what every error answer owes.
func (r reply) isProblem(t *testing.T, status int, code, says string) {
	t.Helper()
	require.Equal(t, status, r.status, r.body)
	var p map[string]string
	require.NoError(t, json.Unmarshal([]byte(r.body), &p), r.body)
	require.Len(t, p, 3)
	assert.Equal(t, code, p["code"])
	assert.NotEmpty(t, p["error"])
	assert.NotEmpty(t, p["hint"])
	assert.Contains(t, p["error"]+"; "+p["hint"], says)
}

// call asks the service for a path with a key, and returns the status; 0 for none.
func (r remote) call(path, key string) int {
	r.t.Helper()
	hc := &http.Client{Transport: r.mock.Transport()}
	defer hc.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodGet, r.mock.URL+path, nil)
	require.NoError(r.t, err)
	req.Header.Set("X-API-KEY", key)
	resp, err := hc.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(r.t, resp.Body.Close())
	return resp.StatusCode
}

const lookup = "/api/contribuyentes/20131312955"
