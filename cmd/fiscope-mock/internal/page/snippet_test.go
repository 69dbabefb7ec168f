package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// What the page shows of a call as curl and as Go makes the same call again.
func TestSnippetsMakeTheCallAgain(t *testing.T) {
	needs(t, "curl")
	needs(t, "go")
	srv := mockserver.New(t, mockserver.WithAPIKey("una-clave-propia"))
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

	var snippets [][2]string
	modules(t, srv, `const { curl, goProgram } = await import(files + 'snippet.js')
		say(calls.map((call) => [curl(call, origin), goProgram(call, origin)]))`, &snippets)
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

// The certificate of -tls is known to nobody: the lines say so, or how to trust it. A HEAD has no body to wait for.
func TestSnippetsOfHTTPS(t *testing.T) {
	srv := mockserver.New(t)
	call(t, srv, "GET", "contribuyentes/20131312955", "")
	var got struct{ Line, Program, Head string }
	modules(t, srv, `const { curl, goProgram } = await import(files + 'snippet.js')
		const [call] = calls
		say({ Line: curl(call, 'https://localhost'), Program: goProgram(call, 'https://localhost'), Head: curl({ ...call, method: 'HEAD' }, origin) })`, &got)
	assert.Contains(t, got.Line, "curl -k ")
	assert.Contains(t, got.Program, "SSL_CERT_FILE=ca.pem, from https://localhost/_mock/ca.pem")
	assert.Contains(t, got.Head, " -I ")
	assert.NotContains(t, got.Head, "-k")
	assert.NotContains(t, got.Head, "-X")
}
