package contracttest

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var withPrism = flag.Bool("prism", false, "judge the built program with "+prism+" of npm, which it installs in a temporary folder")

const prism = "@stoplight/prism-cli@5.16.0"

// A validator that shares nothing with the other tests, neither language nor library, stands as a proxy
// before the built program and reads openapi.yaml by itself.
func TestPrismFindsNoViolation(t *testing.T) {
	if !*withPrism {
		t.Skip("add -prism to run this test: it needs npm and a network")
	}
	folder := t.TempDir()
	command(t, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", prism)
	data := filepath.Join(folder, "data.json")
	require.NoError(t, receiptData().Save(data))

	mock := start(t, "http://", binary(t), "-addr", "127.0.0.1:0", "-data", data, "-now", fridayEvening.Format(time.RFC3339), "-frozen",
		"-api-key", "clave", "-api-key", "gastada=0")
	proxy := start(t, "listening on ", filepath.Join(folder, "node_modules", ".bin", "prism"), "proxy", document, mock, "--port", freePort(t))

	all := append(exchanges(t), undocumented(t)...)
	for _, taxpayer := range defaultData[struct{ RUC string }](t, "contribuyentes") {
		all = append(all, get("taxpayer "+taxpayer.RUC, "/api/contribuyentes/"+taxpayer.RUC, http.StatusOK, ""))
	}
	for _, e := range all {
		if e.body != "" && !json.Valid([]byte(e.body)) {
			continue // prism passes on no body that it cannot read, and does not answer either
		}
		t.Run(e.name, func(t *testing.T) {
			key := map[state]string{keyless: "", spent: "gastada"}
			if _, known := key[e.when]; !known {
				key[e.when] = "clave"
			}
			switch e.when {
			case early:
				control(t, mock, http.MethodPut, "clock", `{"now": "`+fridayAfternoon.Format(time.RFC3339)+`"}`)
			case sunatDown:
				control(t, mock, http.MethodPut, "sunat", `{"down": true}`)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			got := roundTrip(t, newRequest(t, e.method, proxy+e.target, key[e.when], e.body).WithContext(ctx))
			control(t, mock, http.MethodPost, "reset", "")

			t.Logf("%s %s: %d %s", e.method, e.target, got.status, got.header.Get("Sl-Violations"))
			require.Equal(t, e.status, got.status, "%s", got.body)
			var violations []struct {
				Location []string
				Message  string
			}
			if text := got.header.Get("Sl-Violations"); text != "" {
				require.NoError(t, json.Unmarshal([]byte(text), &violations), text)
			}
			for _, v := range violations {
				assert.NotEqual(t, "response", v.Location[0], "%v: %s", v.Location, v.Message)
				assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnauthorized}, e.status, "%v: %s", v.Location, v.Message)
			}
		})
	}
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	return port
}

// control changes how the mock server stands, over its admin API.
func control(t *testing.T, mock, method, path, body string) {
	t.Helper()
	got := roundTrip(t, newRequest(t, method, mock+"/_mock/"+path, "", body))
	require.Less(t, got.status, 300, "%s", got.body)
}
