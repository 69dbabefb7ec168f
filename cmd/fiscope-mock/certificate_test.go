package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelfSigned(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	pair, ca, err := selfSigned(certificateNames("mock.interno:8443", []string{"otro", "10.1.2.3"}))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(ca))
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "mock.interno", "otro", "10.1.2.3", host} {
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
		assert.NoError(t, err, name)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "example.com"})
	assert.Error(t, err)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "otro", CurrentTime: time.Now().Add(366 * 24 * time.Hour)})
	assert.Error(t, err, "it does not last")
	_, other, err := selfSigned([]string{"localhost"})
	require.NoError(t, err)
	assert.NotEqual(t, string(ca), string(other), "each start has its own")
}

// overTLS returns a client that trusts what the file holds.
func overTLS(t *testing.T, caFile string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(caFile)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return &http.Client{Transport: transport}
}

func TestServesTLS(t *testing.T) {
	own := filepath.Join(t.TempDir(), "ca con espacio.pem")
	var temporary string
	for name, c := range map[string]struct {
		args   []string
		caFile string // "" for the temporary one, which the second line tells
	}{
		"a file":           {[]string{"-tls-ca-file", own}, own},
		"a temporary file": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			url, command := serving(t, vars("FISCOPE_MOCK_TLS", "true"), append(c.args, "-addr", "127.0.0.1:0", "-log", "off")...)
			assert.Regexp(t, `^https://127\.0\.0\.1:\d+$`, url)
			file, run, ok := strings.Cut(command, " FISCOPE_BASE_URL=")
			require.True(t, ok, command)
			assert.Equal(t, url+" FISCOPE_API_KEY=clave-de-prueba go run ./examples/quickstart", run)
			file = strings.TrimPrefix(file, "SSL_CERT_FILE=")
			if c.caFile != "" {
				require.Equal(t, shellWord(c.caFile), file)
				file = c.caFile
			} else {
				temporary = file
			}
			hc := overTLS(t, file)
			resp, err := hc.Get(url + "/_mock/ca.pem")
			require.NoError(t, err)
			served, _ := io.ReadAll(resp.Body)
			require.NoError(t, resp.Body.Close())
			written, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(written), string(served))
			assert.Equal(t, 1, resp.ProtoMajor, "HTTP/1.1, so that a fault can break one call's connection")
			_, err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
			assert.Error(t, err, "nobody trusts it without its CA")
		})
	}
	assert.FileExists(t, own)
	assert.NoFileExists(t, temporary)
}

// A fault over TLS is a real reset, not TLS's polite goodbye.
func TestResetOverTLS(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-tls", "-tls-ca-file", ca)
	hc := overTLS(t, ca)
	resp, err := hc.Post(url+"/_mock/faults", "application/json", strings.NewReader(`{"steps": [{"preset": "reset"}]}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	req, err := http.NewRequest(http.MethodGet, url+"/api/tipocambio", nil)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", "clave-de-prueba")
	_, err = hc.Do(req)
	var broken *net.OpError
	require.ErrorAs(t, err, &broken)
	assert.ErrorContains(t, err, "connection reset by peer")
}

func TestGivenPair(t *testing.T) {
	url, command := servingPair(t, "127.0.0.1")
	assert.Equal(t, "FISCOPE_BASE_URL="+url+" FISCOPE_API_KEY=clave-de-prueba go run ./examples/quickstart", command)
	dir := t.TempDir()
	ca, cert, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, ca, cert, key, "127.0.0.1")
	url, _ = serving(t, vars("FISCOPE_MOCK_TLS_KEY", key), "-addr", "127.0.0.1:0", "-log", "off", "-tls-cert", cert)
	resp, err := overTLS(t, ca).Get(url + "/_mock/ca.pem")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 404, resp.StatusCode, "it made no CA")

	var stderr strings.Builder
	assert.Equal(t, 2, run(t.Context(), []string{"-tls-cert", key, "-tls-key", cert}, vars(), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "-tls-cert and -tls-key: ")
}

// servingPair serves with a certificate for a name, and returns the first two lines.
func servingPair(t *testing.T, name string) (url, command string) {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, filepath.Join(dir, "ca.pem"), cert, key, name)
	return serving(t, vars("FISCOPE_MOCK_TLS_KEY", key), "-addr", "127.0.0.1:0", "-log", "off", "-tls-cert", cert)
}

// writePair writes a certificate and its key as a company's own CA would give them.
func writePair(t *testing.T, ca, cert, key, name string) {
	t.Helper()
	pair, root, err := selfSigned([]string{name})
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		ca:   root,
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	} {
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
}
