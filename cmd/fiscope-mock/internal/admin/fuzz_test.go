package admin

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// Whatever is sent to an endpoint is taken or refused with a reason, and the service answers after it.
func FuzzBody(f *testing.F) {
	var paths []endpoint
	for _, e := range endpoints {
		if e.method == http.MethodPost || e.method == http.MethodPut {
			paths = append(paths, e)
		}
	}
	for i := range paths {
		for _, seed := range []string{
			"", "{}", "null", "[1", `{"now": "2026-11-20T16:59:00-05:00", "frozen": true}`, `{"by": "24h"}`, `{"down": true}`, `{"limit": 100, "used": 99}`,
			`{"match": {"op": "consultar", "times": 1}, "steps": [{"status": 503, "delay": "1s"}, {"preset": "html-200"}]}`, `{"parts": ["journal", "clock"]}`,
			`{"contribuyentes": [{"ruc": "20000000001", "razonSocial": "PRIMERA"}], "usuarios": [{"ruc": "20000000001", "usuario": "U", "clave": "secreta"}]}`,
		} {
			f.Add(uint(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint, body []byte) {
		mock, err := mockserver.Start(mockserver.WithoutSocket())
		require.NoError(t, err)
		defer func() { require.NoError(t, mock.Close()) }()
		api := New(Config{Mock: mock, Log: slog.New(slog.DiscardHandler), Ending: t.Context()})
		e := paths[which%uint(len(paths))]
		r := httptest.NewRequest(e.method, strings.NewReplacer("{", "", "}", "").Replace(e.path), strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		switch {
		case w.Code == http.StatusOK || w.Code == http.StatusCreated || w.Code == http.StatusNoContent:
		case w.Code >= 400 && w.Code < 500:
			var p map[string]string
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p), w.Body.String())
			require.NotEmpty(t, p["error"])
			require.NotEmpty(t, p["code"])
			require.NotEmpty(t, p["hint"])
		default:
			t.Fatalf("%s %s: %d %s", e.method, e.path, w.Code, w.Body)
		}
		mock.ClearFaults()
		r = httptest.NewRequest(http.MethodGet, lookup, nil)
		r.Header.Set("X-API-KEY", mock.APIKey)
		w = httptest.NewRecorder()
		mock.ServeHTTP(w, r)
		require.True(t, json.Valid(w.Body.Bytes()), "%d %s", w.Code, w.Body)
	})
}
