package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	temporary := t.TempDir()
	url := serving(t, vars("FISCOPE_MOCK_TLS", "true", "TMPDIR", temporary), "-addr", "127.0.0.1:0", "-log", "off")
	assert.Regexp(t, `^https://127\.0\.0\.1:\d+$`, url)
	names := filesIn(t, temporary)
	require.Len(t, names, 1)
	file := filepath.Join(temporary, names[0])
	resp, err := overTLS(t, file).Get(url + "/_mock/ca.pem")
	require.NoError(t, err)
	served, _ := io.ReadAll(resp.Body)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, string(readFile(t, file)), string(served))
	assert.Equal(t, 1, resp.ProtoMajor, "HTTP/1.1, so that a fault can break one call's connection")
	_, err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
	assert.Error(t, err, "nobody trusts it without its CA")
}
