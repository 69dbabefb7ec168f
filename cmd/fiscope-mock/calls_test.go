package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/mockserver"
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

// called starts a server with a log of that format, calls it in many ways, closes it, and returns the log.
func called(t *testing.T, format string) string {
	t.Helper()
	s := defaultSettings()
	s.addr, s.log, s.keys = "127.0.0.1:0", format, []apiKey{{key: "s3creta"}, {key: "segunda-s3creta"}}
	s.now, s.frozen = time.Date(2026, 11, 20, 21, 59, 3, 0, time.UTC), true
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
	require.NoError(t, send("GET", "/api/contribuyentes/search?razonSocial=s3creta", "s3creta", ""))
	require.NoError(t, send("GET", "/api/contribuyentes/segunda-s3creta", "segunda-s3creta", ""))
	require.NoError(t, send("GET", "/api/nada%0a", "otra-s3creta", ""))
	require.NoError(t, send("POST", "/api/cpe/validar", "s3creta", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,
		"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-s3creta"}`))
	require.NoError(t, send("POST", "/_mock/faults", "s3creta", `{"name": "cae", "steps": [{"preset": "reset"}, {"preset": "hang"}]}`))
	require.ErrorContains(t, send("GET", "/api/tipocambio", "s3creta", ""), "reset by peer", "a log must not stand between a fault and the connection")
	held := make(chan error)
	go func() { held <- send("GET", "/api/tipocambio", "s3creta", "") }()
	require.Eventually(t, func() bool { return len(r.mock.Requests()) == 7 }, time.Minute, time.Millisecond)
	require.NoError(t, r.close())
	require.Error(t, <-held)
	assert.NotContains(t, out.String(), "s3creta")
	assert.NotContains(t, out.String(), "segunda")
	return regexp.MustCompile(`k_[0-9a-f]{8}`).ReplaceAllString(out.String(), "KEY")
}

// A line a call, in Lima's time; what the admin API changed stands where it happened, or near it.
func TestLogForPeople(t *testing.T) {
	got := called(t, logText)
	const admin = "admin method=POST path=/_mock/faults\n"
	assert.Contains(t, got, admin)
	lines := strings.Split(strings.Replace(got, admin, "", 1), "\n")
	for i, want := range []string{
		`^16:59:03 200 GET /api/contribuyentes/20131312955  costó 1, quedan 999$`,
		`^16:59:03 200 GET /api/contribuyentes/search\?razonSocial=KEY  costó 1, quedan 998$`,
		`^16:59:03 400 GET /api/contribuyentes/KEY  costó 1, quedan 999  INVALID_RUC: el RUC «KEY» no es válido: debe tener exactamente 11 dígitos numéricos$`,
		`^16:59:03 404 GET /api/nada\x{fffd}  costó 0  MOCK_NO_ROUTE: no existe la ruta .*`,
		`^16:59:03 401 POST /api/cpe/validar  costó 1, quedan 997  INVALID_SOL_CREDENTIALS: .*clave`,
		`^16:59:03 --- GET /api/tipocambio  costó 1, quedan 996  falla cae  no se respondió$`,
		`^16:59:03 --- GET /api/tipocambio  costó 1, quedan 995  falla cae  no se respondió$`, // when it has ended
		`^$`,
	} {
		assert.Regexp(t, want, lines[i])
	}
	assert.Len(t, lines, 8)
	assert.NotContains(t, got, "\x1b", "no colours: it is no terminal")
}

func TestLogForMachines(t *testing.T) {
	var lines []string
	for line := range strings.Lines(called(t, logJSON)) {
		var l map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		if l["msg"] == "call" {
			assert.Equal(t, "2026-11-20T16:59:03-05:00", l["time"])
			lines = append(lines, fmt.Sprintln(l["level"], l["method"], l["path"], l["op"], l["status"], l["code"], l["cost"], l["left"], l["fault"], l["error"] != ""))
		}
	}
	assert.Equal(t, []string{
		"INFO GET /api/contribuyentes/20131312955 consultar 200  1 999  false\n",
		"INFO GET /api/contribuyentes/search buscar 200  1 998  false\n",
		"WARN GET /api/contribuyentes/KEY consultar 400 INVALID_RUC 1 999  true\n",
		"WARN GET /api/nada\n  404 MOCK_NO_ROUTE 0 -1  true\n",
		"WARN POST /api/cpe/validar validar 401 INVALID_SOL_CREDENTIALS 1 997  true\n",
		"WARN GET /api/tipocambio tipocambio 0  1 996 cae false\n",
		"WARN GET /api/tipocambio tipocambio 0  1 995 cae false\n",
	}, lines)
}

func TestLogFormats(t *testing.T) {
	for format, want := range map[string]string{logText: "hola n=1\naviso: cuidado\n", "": "aviso: cuidado\n", logOff: ""} {
		var out bytes.Buffer
		log := newLogger(format, &out)
		log.Info("hola", "n", 1)
		log.Warn("cuidado")
		assert.Equal(t, want, out.String())
	}
	c := console{coloured: true}
	assert.Equal(t, "\x1b[32m200\x1b[0m", c.colour(terminal.Green, "200"))
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
				_, err = r.mock.Control().AddFault(mockserver.Fault{Steps: []mockserver.Effect{mockserver.Answer(500, `{"code":"`+code+`"}`)}})
				require.NoError(t, err)
				_, _ = lookup(t, r.url, "otra")
				require.NoError(t, r.close())
				assert.Contains(t, log.String(), "500")
				assert.NotContains(t, log.String(), "llave")
				assert.NotContains(t, log.String(), "secreta")
			})
		}
	}
}
