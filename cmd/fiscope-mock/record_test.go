package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const realTaxpayer = `{"ruc": "20700000001", "razonSocial": "REAL & CÍA <\u00d1>", "n": 3.750}`

// The program records over real sockets, survives kill -9, and replays what is in the file.
func TestRecordAndReplay(t *testing.T) {
	const known, page = "/api/contribuyentes/20700000001", "/api/contribuyentes/20700000002"
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == page {
			w.Header()["Content-Type"] = nil
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "<html>ca\xeddo</html>")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-RateLimit-Remaining", "41")
		_, _ = io.WriteString(w, realTaxpayer)
	}))
	defer service.Close()
	get := func(base, path, key string) (int, string, http.Header) {
		req, err := http.NewRequest(http.MethodGet, base+path, nil)
		require.NoError(t, err)
		req.Close = true
		req.Header.Set("X-API-KEY", key)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text), resp.Header
	}
	file := filepath.Join(t.TempDir(), "grabado.json")
	flags := []string{"-addr", "127.0.0.1:0", "-log", "text"}
	p := startProgram(t, nil, append(flags, "-upstream", service.URL, "-record", file)...)
	_, text, _ := get(p.url, known, "clave-real")
	assert.Equal(t, realTaxpayer, text)
	status, _, _ := get(p.url, page, "clave-real")
	assert.Equal(t, 503, status)
	require.Eventually(t, func() bool {
		saved, _ := os.ReadFile(file) // it may not be there yet
		return strings.Contains(string(saved), page)
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGKILL))
	_ = p.cmd.Wait()
	assert.Contains(t, p.stderr.String(), "200 GET "+known+"  costó 1  del servicio real, rompe el contrato")
	assert.Equal(t, []string{"grabado.json"}, filesIn(t, filepath.Dir(file)))

	for _, left := range []string{".123.tmp", ".20261128"} { // half a file of a killed program, and a copy of the user's
		writeFile(t, filepath.Dir(file), "grabado.json"+left, "{")
	}
	p = startProgram(t, nil, append(flags, "-upstream", service.URL, "-record", file)...)
	assert.Equal(t, []string{"grabado.json", "grabado.json.20261128"}, filesIn(t, filepath.Dir(file)))
	asked.Store(0)
	get(p.url, known, "clave-real")
	assert.Zero(t, asked.Load(), "it is recorded")
	service.Close()
	status, text, _ = get(p.url, page, "clave-real")
	assert.Equal(t, 502, status)
	assert.Contains(t, text, "connection refused")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	assert.NotContains(t, p.stderr.String(), "502 GET "+page+"  costó 0  del servicio real", "which did not answer")

	// A year later, by the clock.
	edited := regexp.MustCompile(`"asked": ".*"`).ReplaceAllString(string(readFile(t, file)), `"asked": "2024-03-04T16:59:00-05:00"`)
	require.NoError(t, os.WriteFile(file, []byte(edited), 0o600))
	p = startProgram(t, nil, "-addr", "127.0.0.1:0", "-replay", file)
	status, text, header := get(p.url, known, "clave-de-prueba")
	assert.Equal(t, []any{200, strings.NewReplacer(": ", ":", ", ", ",").Replace(realTaxpayer), "41", ""},
		[]any{status, text, header.Get("X-RateLimit-Remaining"), header.Get("X-RateLimit-Limit")})
	status, text, header = get(p.url, page, "clave-de-prueba")
	assert.Equal(t, []any{503, "<html>ca\xeddo</html>", []string(nil)}, []any{status, text, header["Content-Type"]})
	status, text, _ = get(p.url, "/api/tipocambio", "clave-de-prueba")
	assert.Equal(t, 501, status)
	assert.Contains(t, text, `"code":"MOCK_NOT_RECORDED"`)
	_, text = ask(t, "GET", p.url+"/_mock/requests?unmatched=true", "")
	assert.Equal(t, 1, strings.Count(text, `"path"`))
	_, text = ask(t, "GET", p.url+"/_mock/clock", "")
	assert.Contains(t, text, `"2024-03-04T1`)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	lines := strings.Split(p.stderr.String(), "\n")
	assert.Regexp(t, `^aviso: .*reloj.*-now.*X-RateLimit-Reset`, lines[0])
	assert.Contains(t, lines[1], "501 GET /api/tipocambio  costó 0  MOCK_NOT_RECORDED: ")
	assert.Len(t, lines, 3, "nothing else is logged")
	assert.Equal(t, edited, string(readFile(t, file)))
}

func TestRecordRefuses(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ args, says string }{
		"plain http":         {"-upstream http://api.ejemplo.pe", "-upstream: se espera la URL de un servicio con https"},
		"no URL":             {"-upstream api.ejemplo.pe", "-upstream: se espera la URL"},
		"a URL with a user":  {"-upstream https://u:secreta@api.ejemplo.pe", "se espera la URL"},
		"a URL with a query": {"-upstream https://api.ejemplo.pe?a=1", "se espera la URL"},
		"record alone":       {"-record x.json", "-record no sirve sin -upstream"},
		"again alone":        {"-record-again", "-record-again no sirve sin -upstream"},
		"both":               {"-replay x.json -upstream http://localhost:1", "-replay y -upstream se excluyen"},
		"a registry":         {"-replay x.json -padron x.idx", "-padron no sirve"},
		"no folder":          {"-upstream http://localhost:1 -record " + filepath.Join(folder, "no", "x.json"), "-record: "},
		"a folder":           {"-upstream http://localhost:1 -record " + folder, "no es un archivo"},
		"no recording":       {"-upstream http://localhost:1 -record " + writeFile(t, folder, "mal.json", "hola"), "mal.json:1: "},
		"another mistake":    {"-upstream http://localhost:1 -record " + filepath.Join(folder, "nuevo.json") + " -data " + filepath.Join(folder, "no.json"), "no.json: no existe"},
		"nothing to replay":  {"-replay " + filepath.Join(folder, "no.json"), "no.json: no existe"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, status := runMain(t, nil, append(strings.Fields(c.args), "-addr", "127.0.0.1:0")...)
			assert.Equal(t, 2, status)
			assert.Contains(t, stderr, c.says)
		})
	}
	assert.Equal(t, []string{"mal.json"}, filesIn(t, folder))
}
