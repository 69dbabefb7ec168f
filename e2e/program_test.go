package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// frozen are the arguments of a program whose day does not end in the middle of a test.
var frozen = []string{"-now", "2026-11-20T16:41:00-05:00", "-frozen"}

// defaultKey is the program's own key where no other was given.
const defaultKey = "clave-de-prueba"

// program is the built program, serving.
type program struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string // without a slash at its end
	rest chan struct{}
}

// start runs the built program on a free port of loopback until the test ends.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{t: t, rest: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"-addr", "127.0.0.1:0", "-log", "off"}, args...)...)
	p.cmd.Env = append(os.Environ(), "NO_COLOR=1")
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	go func() { // or it would wait for a reader
		defer close(p.rest)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(p.kill)
	require.NoError(t, err)
	p.url = strings.TrimSpace(line)
	return p
}

// page is the address of the page, and of one of its views.
func (p *program) page(view string) string { return p.url + "/_mock/#" + view }

func (p *program) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		<-p.rest
		_ = p.cmd.Wait()
	}
}

// stop ends it as a service manager does, within 5 seconds.
func (p *program) stop() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	timer := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	<-p.rest
	err := p.cmd.Wait()
	require.True(p.t, timer.Stop(), "it was still there after 5 seconds")
	require.NoError(p.t, err, "exit status 0")
}

// answer is what came back of a request.
type answer struct {
	status int
	body   string
}

// calls has no connection in common with anything else.
var calls = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// send sends a request with raw bytes, and with headers: name, value.
func (p *program) send(method, path, body string, headers ...string) answer {
	p.t.Helper()
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := calls.Do(req)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return answer{resp.StatusCode, string(text)}
}

// call sends a call of a client with the default key.
func (p *program) call(method, path, body string) answer {
	p.t.Helper()
	return p.send(method, path, body, "X-API-KEY", defaultKey)
}

// lookup asks for a taxpayer.
func (p *program) lookup(ruc string) answer {
	p.t.Helper()
	return p.call(http.MethodGet, "/api/contribuyentes/"+ruc, "")
}

// validate sends a receipt, of which the program knows that it is accepted, in the name of a SOL user.
func (p *program) validate(usuario, clave string) answer {
	p.t.Helper()
	return p.call(http.MethodPost, "/api/cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, `+
		`"rucSolicitante": "20131312955", "usuarioSol": "`+usuario+`", "claveSol": "`+clave+`"}`)
}

// fault sets a fault by its JSON.
func (p *program) fault(match, step string) {
	p.t.Helper()
	p.admin(http.MethodPost, "faults", `{"match": {`+match+`}, "steps": [{`+step+`}]}`)
}

// admin changes or reads the program over its admin API, where that is not refused.
func (p *program) admin(method, path, body string) string {
	p.t.Helper()
	got := p.send(method, "/_mock/"+path, body)
	require.Less(p.t, got.status, 300, "%s %s: %s", method, path, got.body)
	return got.body
}

// read returns what the admin API says, as a T.
func read[T any](p *program, path string) T {
	p.t.Helper()
	var v T
	require.NoError(p.t, json.Unmarshal([]byte(p.admin(http.MethodGet, path, "")), &v))
	return v
}
