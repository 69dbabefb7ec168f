package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buffer is a bytes.Buffer for many goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// called starts a server with a log, calls it in many ways, closes it, and returns the log's lines.
func called(t *testing.T, all bool) []string {
	t.Helper()
	s := defaultSettings()
	s.addr, s.log, s.logAll, s.keys = "127.0.0.1:0", logJSON, all, []apiKey{{key: "s3creta"}, {key: "segunda-s3creta"}}
	var out buffer
	r, err := start(s, newLogger(s.log, &out))
	require.NoError(t, err)
	send := func(method, path, key, body string) error {
		req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Close = true
		req.Header.Set("X-API-KEY", key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	}
	require.NoError(t, send("GET", "/api/contribuyentes/20131312955", "s3creta", ""))
	require.NoError(t, send("GET", "/api/contribuyentes/s3creta?razonSocial=s3creta", "s3creta", ""))
	require.NoError(t, send("GET", "/api/contribuyentes/"+strings.Repeat("a", 190)+"segunda-s3creta", "", ""))
	require.NoError(t, send("GET", "/api/%25%373egunda-s3creta", "", ""))
	require.NoError(t, send("GET", "/api/nada", "otra-s3creta", ""))
	require.NoError(t, send("GET", "/api/tercera-clave", "tercera-clave", ""))
	require.NoError(t, send("POST", "/api/cpe/validar", "s3creta", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,
		"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-s3creta"}`))
	require.NoError(t, send("POST", "/_mock/faults", "s3creta", `{"steps": [{"preset": "reset"}]}`))
	require.ErrorContains(t, send("GET", "/api/tipocambio", "s3creta", ""), "reset by peer", "a log must not stand between a fault and the connection")
	// The last one took its connection from the server, which does not wait for it.
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "/api/tipocambio") }, 10*time.Second, time.Millisecond)
	require.NoError(t, r.close())
	assert.NotContains(t, out.String(), "s3creta")
	assert.NotContains(t, out.String(), "segunda")
	assert.NotContains(t, out.String(), "tercera", "a key that the server does not know is the request's own")
	var lines []string
	for line := range strings.Lines(out.String()) {
		var l struct {
			Level, Method, Path, Code string
			Status                    *int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		status := "-"
		if l.Status != nil {
			status = http.StatusText(*l.Status)
		}
		path := regexp.MustCompile(`k_[0-9a-f]{0,8}`).ReplaceAllString(l.Path, "KEY")
		lines = append(lines, strings.Join([]string{l.Level, l.Method, path, status, l.Code}, " "))
	}
	return lines
}

func TestLog(t *testing.T) {
	failed := []string{
		"WARN GET /api/contribuyentes/KEY Bad Request INVALID_RUC",
		"WARN GET /api/contribuyentes/" + strings.Repeat("a", 180) + " Unauthorized UNAUTHORIZED",
		"WARN GET /api/KEY Not Found MOCK_NO_ROUTE",
		"WARN GET /api/nada Not Found MOCK_NO_ROUTE",
		"WARN GET /api/KEY Not Found MOCK_NO_ROUTE",
		"WARN POST /api/cpe/validar Unauthorized INVALID_SOL_CREDENTIALS",
		"INFO POST /_mock/faults - ",
		"WARN GET /api/tipocambio  ",
	}
	assert.Equal(t, failed, called(t, false))
	assert.Equal(t, append([]string{"INFO GET /api/contribuyentes/20131312955 OK "}, failed...), called(t, true))
}

func TestLogFormats(t *testing.T) {
	for format, want := range map[string]string{logText: "msg=hola", logJSON: `"msg":"hola"`, logOff: ""} {
		var out bytes.Buffer
		newLogger(format, &out).Info("hola")
		assert.Contains(t, out.String(), want)
		assert.Equal(t, want == "", out.Len() == 0)
	}
}

// An answer's code may be anything, since a fault may have put it there.
func TestTheLogShowsNoKeyOfAnAnswer(t *testing.T) {
	const key = "llave-secreta"
	for _, format := range []string{logText, logJSON} {
		for name, code := range map[string]string{"plain": key, "escaped": "\\u006clave%2Dsecreta", "long": strings.Repeat("x", 195) + key} {
			t.Run(format+" "+name, func(t *testing.T) {
				s := defaultSettings()
				s.addr, s.log, s.keys = "127.0.0.1:0", format, []apiKey{{key: "otra"}, {key: key}}
				var log buffer
				r, err := start(s, newLogger(s.log, &log))
				require.NoError(t, err)
				_, err = r.mock.AddFault(mockserver.Fault{Steps: []mockserver.Effect{mockserver.Answer(500, `{"code":"`+code+`"}`)}})
				require.NoError(t, err)
				_, _ = lookup(t, r.url, "otra")
				require.NoError(t, r.close())
				assert.Contains(t, log.String(), "code")
				assert.NotContains(t, log.String(), "llave")
				assert.NotContains(t, log.String(), "secreta")
			})
		}
	}
}
