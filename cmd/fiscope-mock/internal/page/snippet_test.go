package page_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the page shows of a call as curl and as Go makes the same call again.
func TestSnippetsMakeTheCallAgain(t *testing.T) {
	for tool, install := range map[string]string{"node": "Node.js 18 or later", "curl": "curl", "go": "Go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("install %s to run this test: %v", install, err)
		}
	}
	srv := mockserver.New(t)
	for _, path := range []string{
		"contribuyentes/20131312955", "contribuyentes/99999999999",
		"contribuyentes/search?razonSocial=luz+del+sur&limit=5", `contribuyentes/search?razonSocial=%22%24O'Hara%22%20%26%20%C3%91`,
		"tipocambio?fecha=2026-10-20", "tipocambio",
	} {
		call(t, srv, "GET", path, "")
	}
	call(t, srv, "POST", "cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,
		"rucSolicitante": "`+mockserver.RUCSolicitante+`", "usuarioSol": "`+mockserver.UsuarioSOL+`", "claveSol": "`+mockserver.ClaveSOL+`"}`)
	asked := srv.Requests()
	require.Len(t, asked, 7)

	journal, err := json.Marshal(asked)
	require.NoError(t, err)
	modules := t.TempDir()
	require.NoError(t, os.CopyFS(modules, os.DirFS("files")))
	require.NoError(t, os.WriteFile(filepath.Join(modules, "package.json"), []byte(`{"type": "module"}`), 0o600))
	script := `const { curl, goProgram } = await import(process.argv[3])
		const calls = JSON.parse(process.argv[1])
		console.log(JSON.stringify(calls.map((call) => [curl(call, process.argv[2]), goProgram(call, process.argv[2])])))`
	var snippets [][2]string
	written := run(t, srv, "node", "--input-type=module", "-e", script, string(journal), srv.URL, "file://"+filepath.ToSlash(filepath.Join(modules, "snippet.js")))
	require.NoError(t, json.Unmarshal([]byte(written), &snippets))
	require.Len(t, snippets, len(asked))

	commands, bodies, header := "", "", ""
	for i, snippet := range snippets {
		for _, text := range snippet {
			assert.NotContains(t, text, srv.APIKey)
			assert.NotContains(t, text, mockserver.ClaveSOL)
			assert.NotContains(t, text, mockserver.UsuarioSOL)
		}
		commands += snippet[0] + "\n"
		before, body, found := strings.Cut(snippet[1], "func main() {")
		require.True(t, found, snippet[1])
		header = before
		name := string(rune('a' + i))
		bodies += "func " + name + "() {" + strings.ReplaceAll(body, "log.Fatal(err)", "log.Print(err)") + "\n"
	}

	again := func(name, tool string, args ...string) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, srv.Reset(mockserver.PartJournal))
			run(t, srv, tool, args...)
			for i, got := range srv.Requests() {
				want := asked[i]
				assert.Equal(t, []any{want.Op, want.Method, want.Path, want.Query, want.Body, want.Status},
					[]any{got.Op, got.Method, got.Path, withLimit(want.Query, got.Query), got.Body, got.Status})
			}
			assert.Len(t, srv.Requests(), len(asked))
		})
	}
	again("curl", "sh", "-c", commands)
	file := filepath.Join(t.TempDir(), "main.go")
	main := "func main() { a(); b(); c(); d(); e(); f(); g() }\n"
	require.NoError(t, os.WriteFile(file, []byte(header+bodies+main), 0o600))
	again("go", "go", "run", file)
}

// withLimit leaves out what the SDK asks of itself: it writes the default.
func withLimit(want, got string) string {
	if !strings.Contains(want, "limit=") {
		got, _, _ = strings.Cut(got, "&limit=")
	}
	return got
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
	c := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // the page's own text
	c.Env = append(os.Environ(), "FISCOPE_API_KEY="+srv.APIKey, "CLAVE_SOL="+mockserver.ClaveSOL, "USUARIO_SOL="+mockserver.UsuarioSOL)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	require.NoError(t, err, said.String())
	return string(out)
}
