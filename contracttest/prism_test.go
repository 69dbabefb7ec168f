package contracttest

import (
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
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
	mock := start(t, "http://", binary(t), "-addr", "127.0.0.1:0", "-api-key", "clave")
	proxy := start(t, "listening on ", filepath.Join(folder, "node_modules", ".bin", "prism"), "proxy", document, mock, "--port", freePort(t))
	transport := violations{t, &http.Transport{DisableKeepAlives: true}}
	conformance.Run(t, conformance.Target{BaseURL: proxy, APIKey: "clave", WrongClave: true, CPE: receipts, Transport: transport})
	for _, taxpayer := range defaultData[struct{ RUC string }](t, "contribuyentes") {
		resp, err := transport.RoundTrip(newRequest(t, http.MethodGet, proxy+"/api/contribuyentes/"+taxpayer.RUC, "clave", ""))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusOK, resp.StatusCode, taxpayer.RUC)
	}
}

// violations fails the test for those that the proxy finds: in an answer, or in a request that was not refused.
type violations struct {
	t    *testing.T
	next http.RoundTripper
}

func (v violations) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := v.next.RoundTrip(req)
	if err != nil || resp.Header.Get("Sl-Violations") == "" {
		return resp, err
	}
	var found []struct {
		Location []string
		Message  string
	}
	require.NoError(v.t, json.Unmarshal([]byte(resp.Header.Get("Sl-Violations")), &found))
	for _, one := range found {
		assert.NotEqual(v.t, "response", one.Location[0], "%v: %s", one.Location, one.Message)
		assert.Contains(v.t, []int{http.StatusBadRequest, http.StatusUnauthorized}, resp.StatusCode, "%v: %s", one.Location, one.Message)
	}
	return resp, nil
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
