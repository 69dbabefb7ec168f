package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	plain := serving(t, vars(), "-addr", "127.0.0.1:0", "-admin-token", "t")
	secure := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-tls", "-tls-ca-file", ca)
	odd := func(status int, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == http.StatusFound {
				w.Header().Set("Location", plain+r.URL.Path)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, c := range map[string]struct {
		env    []string
		args   []string
		status int
		says   string
	}{
		"well":              {vars(), []string{plain}, 0, ""},
		"https":             {vars(), []string{"-tls-ca-file", ca, secure}, 0, ""},
		"https, untrusted":  {vars(), []string{secure}, 1, "certificate"},
		"no CA file":        {vars(), []string{"-tls-ca-file", ca + "x", secure}, 1, "ca.pemx"},
		"no CA in the file": {vars(), []string{"-tls-ca-file", empty, secure}, 1, "ningún certificado PEM"},
		"nobody":            {vars(), []string{"http://127.0.0.1:1"}, 1, "127.0.0.1:1: nadie responde ahí"},
		"somebody else":     {vars(), []string{odd(200, "<html>")}, 1, "estado 200"},
		"not well":          {vars(), []string{odd(503, `{"status":"ok"}`)}, 1, "estado 503"},
		"a redirect":        {vars(), []string{odd(302, "")}, 1, "estado 302"},
		"no URL":            {vars(), nil, 2, "falta la URL"},
		"no scheme":         {vars(), []string{"127.0.0.1:8080"}, 1, "no es una URL"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runMain(t, c.env, append([]string{"health"}, c.args...)...)
			assert.Equal(t, c.status, status, stderr)
			assert.Empty(t, stdout)
			if c.says == "" {
				assert.Empty(t, stderr)
			}
			assert.Contains(t, stderr, c.says)
		})
	}
	_, _, status := runProgram(t, nil, "health", plain)
	assert.Equal(t, 0, status, "the built program")
	_, _, status = runProgram(t, nil, "health", "http://127.0.0.1:1")
	assert.Equal(t, 1, status)
}
