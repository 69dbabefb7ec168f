package page_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/assumption"
	"github.com/fiscope/fiscope/mockserver"
)

// needs skips a test that needs a program which is not there.
func needs(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("install %s to run this test: %v", tool, err)
	}
}

// modules runs a script with the page's modules, of which files is the folder, as a Spanish browser would. It knows
// what the page knows of a server, its calls, faults, presets and assumptions, and its origin. What it says is read
// into result.
func modules(t *testing.T, srv *mockserver.Server, script string, result any) {
	t.Helper()
	needs(t, "node")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("files")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600))
	state, err := json.Marshal(map[string]any{
		"files": "file://" + filepath.ToSlash(dir) + "/", "origin": srv.URL, "calls": srv.Requests(), "faults": srv.Control().Faults(""),
		"presets": mockserver.Presets(), "assumptions": assumption.List(srv.Control().Assumptions()),
	})
	require.NoError(t, err)
	script = `const { files, origin, calls, faults, presets, assumptions } = JSON.parse(process.argv[1])
		const say = (value) => console.log(JSON.stringify(value))
		Object.defineProperty(globalThis, 'navigator', { value: { languages: ['es-PE', 'en'] } })
		globalThis.fetch = async () => ({ ok: true, status: 200, json: async () => presets })
		` + script
	said := run(t, srv, "node", "--input-type=module", "-e", script, string(state))
	require.NoError(t, json.Unmarshal([]byte(said), result))
}

// call makes a call of the service.
func call(t *testing.T, srv *mockserver.Server, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/api/"+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-API-KEY", srv.APIKey)
	r.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
}

// run runs a program that has the secrets in its environment, and returns what it says.
func run(t *testing.T, srv *mockserver.Server, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), "FISCOPE_API_KEY="+srv.APIKey, "CLAVE_SOL="+mockserver.ClaveSOL, "USUARIO_SOL="+mockserver.UsuarioSOL, "no_proxy=127.0.0.1")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	require.NoError(t, err, said.String())
	return string(out)
}
