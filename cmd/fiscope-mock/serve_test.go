package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask sends one request, JSON where there is a body, with the default key on a service path.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if !strings.Contains(url, "/_mock/") {
		req.Header.Set("X-API-KEY", "clave-de-prueba")
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(got)
}

func TestServesDataAtATime(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"contribuyentes": [{"ruc": "20600000005", "razonSocial": "PRUEBA S.A.C."}]}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte(`{"tiposCambio": [{"fecha": "2026-11-20", "compra": 3.750, "venta": 3.760}], "keys": [{"key": "clave-de-prueba", "quota": 3}]}`), 0o600))
	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-data", dir, "-now", "2026-11-20T16:59:59-05:00", "-frozen", "-api-key", "clave-de-prueba=50")
	status, body := ask(t, "GET", url+"/api/contribuyentes/20600000005", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, body, "PRUEBA S.A.C.")
	status, _ = ask(t, "GET", url+"/api/tipocambio", "")
	assert.Equal(t, 404, status, "a second before it is published")
	status, _ = ask(t, "POST", url+"/_mock/clock/advance", `{"by": "1s"}`)
	assert.Equal(t, 200, status)
	_, body = ask(t, "GET", url+"/api/tipocambio", "")
	assert.Contains(t, body, `"compra":3.750`)
	_, limit := lookup(t, url, "clave-de-prueba")
	assert.Equal(t, "50", limit, "a flag's quota wins over the file's")
}

func TestRefusesWrongData(t *testing.T) {
	name := filepath.Join(t.TempDir(), "datos.json")
	for what, c := range map[string]struct{ text, says string }{
		"syntax":    {"{\n  \"contribuyentes\": [\n    {]\n", name + ":3: "},
		"a RUC":     {"{\"contribuyentes\": [\n{\"ruc\": \"2060000000\"}\n]}", name + ":2: "},
		"a member":  {"{\n\n\"contribuyente\": []}", name + ":3: unknown member \"contribuyente\""},
		"no object": {"[]", name + ":1: "},
	} {
		t.Run(what, func(t *testing.T) {
			require.NoError(t, os.WriteFile(name, []byte(c.text), 0o600))
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 2, run(t.Context(), []string{"-addr", "127.0.0.1:0", "-data", name}, vars(), &stdout, &stderr))
			assert.Empty(t, stdout.String())
			assert.Contains(t, stderr.String(), "fiscope-mock: "+c.says)
		})
	}
	var stderr bytes.Buffer
	assert.Equal(t, 2, run(t.Context(), []string{"-data", filepath.Join(t.TempDir(), "no.json")}, vars(), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "no.json")
}

func TestURLFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(name, []byte("http://127.0.0.1:1\n"), 0o600), "of a server that was killed")
	t.Run("while it serves", func(t *testing.T) {
		url, _ := serving(t, vars("FISCOPE_MOCK_URL_FILE", name), "-addr", "127.0.0.1:0")
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, url+"\n", string(text))
	})
	assert.NoFileExists(t, name)

	var stderr bytes.Buffer
	assert.Equal(t, 2, run(t.Context(), []string{"-addr", "127.0.0.1:0", "-url-file", filepath.Join(t.TempDir(), "no", "url")}, vars(), io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "-url-file")
}

// inFlight sends a lookup that meets a fault, and returns once it waits.
func inFlight(t *testing.T, url, step string) <-chan error {
	t.Helper()
	status, body := ask(t, "POST", url+"/_mock/faults", `{"steps": [`+step+`]}`)
	require.Equal(t, 200, status, body)
	done := make(chan error, 1)
	go func() {
		req, _ := http.NewRequest(http.MethodGet, url+"/api/contribuyentes/20131312955", nil)
		req.Header.Set("X-API-KEY", "clave-de-prueba")
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		done <- err
	}()
	status, _ = ask(t, "GET", url+"/_mock/requests/wait?op=consultar", "")
	require.Equal(t, 200, status)
	return done
}

// halfSent is a receipt validation whose body is still arriving.
type halfSent struct {
	conn   net.Conn
	answer *bufio.Reader
}

const (
	firstHalf  = `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,`
	secondHalf = `"rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}`
)

func sendHalf(t *testing.T, url string) halfSent {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /api/cpe/validar HTTP/1.1\r\nHost: mock\r\nX-API-KEY: clave-de-prueba\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(firstHalf+secondHalf))
	require.NoError(t, err)
	h := halfSent{conn, bufio.NewReader(conn)}
	line, err := h.answer.ReadString('\n') // written when the server begins to read the body
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = h.answer.ReadString('\n')
	require.NoError(t, err)
	_, err = io.WriteString(conn, firstHalf)
	require.NoError(t, err)
	return h
}

// rest sends the rest, and returns the first line of the answer, or nothing where there is none.
func (h halfSent) rest() string {
	_, _ = io.WriteString(h.conn, secondHalf)
	line, _ := h.answer.ReadString('\n')
	return line
}

// closed waits until the server accepts nothing more.
func closed(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond)
}

func TestStopsWithWhatIsInFlight(t *testing.T) {
	quiet := []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0", "FISCOPE_MOCK_LOG=off"}
	for name, step := range map[string]string{"latency": `{"latency": "300ms"}`, "held": `{"hold": true}`} {
		t.Run(name, func(t *testing.T) {
			p := startProgram(t, quiet)
			done := inFlight(t, p.url, step)
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			assert.NoError(t, <-done, "the answer arrives")
			assert.NoError(t, p.cmd.Wait(), "exit status 0")
		})
	}
	t.Run("still arriving", func(t *testing.T) {
		p := startProgram(t, quiet)
		half := sendHalf(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		closed(t, p.url)
		assert.Equal(t, "HTTP/1.1 200 OK\r\n", half.rest())
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
	})
	t.Run("longer than it may take", func(t *testing.T) {
		p := startProgram(t, quiet, "-shutdown-timeout", "50ms")
		half := sendHalf(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
		assert.Empty(t, half.rest(), "it was cut")
	})
	t.Run("a second signal", func(t *testing.T) {
		p := startProgram(t, quiet, "-shutdown-timeout", "1h")
		half := sendHalf(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		closed(t, p.url)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.Error(t, p.cmd.Wait())
		status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.Equal(t, syscall.SIGTERM, status.Signal())
		assert.Empty(t, half.rest(), "it was cut")
	})
	t.Run("a long poll", func(t *testing.T) {
		p := startProgram(t, quiet, "-shutdown-timeout", "1h")
		status := make(chan int, 1)
		began := make(chan struct{})
		go func() {
			close(began)
			resp, err := http.Get(p.url + "/_mock/requests/wait?count=5&timeout=5m")
			if err != nil {
				status <- 0
				return
			}
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}()
		<-began
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, p.cmd.Wait(), "exit status 0")
		assert.Contains(t, []int{503, 0}, <-status, "0: it came after the listener was closed")
	})
}
