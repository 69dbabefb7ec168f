package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// readmes are the files whose snippets are compiled: each block of Go, with nothing left out of it.
var readmes = []string{"README.md", "README.es.md", "docs/production.md"}

// given declares what the snippets use and do not say. Statements are compiled in a function beside it.
const given = `package snippets

import (
	"context"
	"iter"

	"github.com/fiscope/fiscope"
)

var (
	ctx         context.Context
	client      *fiscope.Client
	url, key    string
	c           *fiscope.Contribuyente
	clave, text string
	ruc         string
	rucs        iter.Seq[string]
	cred        fiscope.CredencialesSOL
	fecha       fiscope.Fecha
	puentes     fiscope.NoLaborables
	resp        fiscope.Response
)
`

// packages are those that statements may use, by their names.
var packages = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "log": "log", "os": "os", "slog": "log/slog", "time": "time",
	"filestore": "github.com/fiscope/fiscope/filestore", "otelfiscope": "github.com/fiscope/fiscope/otelfiscope",
	"fiscope":    "github.com/fiscope/fiscope",
	"mockserver": "github.com/fiscope/fiscope/mockserver",
	"padron":     "github.com/fiscope/fiscope/padron",
	"redis":      "github.com/redis/go-redis/v9",
	"redisstore": "github.com/fiscope/fiscope/redisstore",
}

func TestSnippetsCompile(t *testing.T) {
	files := repository(t)
	dir, goWork := workspace(t)
	for _, readme := range readmes {
		snippets := blocksOf(files[readme], "go")
		require.NotEmpty(t, snippets)
		for _, b := range snippets {
			require.NoError(t, writeSnippet(t, filepath.Join(dir, readme), readme, b))
		}
	}
	for _, command := range []string{"vet", "test"} { // a snippet that is a test passes, too
		out, err := goCommand(t, dir, goWork, command)
		assert.NoError(t, err, "go %s: %s", command, out)
	}
}

// What is a module of its own can be imported: the first program of its document, as the first commands say, in an empty
// module outside of the workspace. What it prints stands below it, except of one that needs a Redis.
func TestTheExtrasCanBeImported(t *testing.T) {
	files := repository(t)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	srv := mockserver.New(t)
	for module, doc := range map[string]string{"redisstore": files["docs/fleet.md"], "otelfiscope": files["docs/observability.md"]} {
		t.Run(module, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), blocksOf(doc, "go")[0].text)
			write(t, filepath.Join(dir, "go.sum"), files["go.sum"]+files[module+"/go.sum"]) // with it, and -e, no network is needed
			run := "go run ."
			if module == "redisstore" {
				run = "go build ./..."
				write(t, filepath.Join(dir, "varios", "main.go"), blocksOf(doc, "go")[1].text) // the gateway
			}
			script := strings.NewReplacer("../fiscope", filepath.ToSlash(root), "go mod tidy", "{ cp -r ../varios . 2>/dev/null || true; } && cp ../main.go ../go.sum . && go mod tidy -e", "fiscope-mock exec -- go run .", run)
			cmd := exec.CommandContext(t.Context(), "sh", "-ec", script.Replace(blocksOf(doc, "sh")[0].text))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "FISCOPE_BASE_URL="+srv.URL, "FISCOPE_API_KEY="+srv.APIKey)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			require.NoError(t, err, "%s", said.String())
			if printed := blocksOf(doc, "console"); len(printed) > 0 {
				assert.Equal(t, printed[0].text, string(out))
			}
		})
	}
}

func goCommand(t *testing.T, dir, goWork, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", command, "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+goWork)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// writeSnippet writes a snippet into a folder, beside what is given.
func writeSnippet(t *testing.T, dir, readme string, b block) error {
	t.Helper()
	name, source, err := compilable(readme, b)
	if err == nil {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), source)
		write(t, filepath.Join(dir, "snippets", "given.go"), given)
	}
	return err
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)$`)

// compilable makes a file of a snippet. One that has a package clause is a file already. Others are statements: they
// become a function, with the imports that they need, and whose variables count as used.
func compilable(readme string, b block) (name, source string, err error) {
	if match := packageClause.FindStringSubmatch(b.text); match != nil {
		name = fmt.Sprintf("line_%d/%s.go", b.line, match[1])
		if strings.Contains(b.text, "*testing.T") {
			name = strings.Replace(name, ".go", "_test.go", 1)
		}
		return name, fmt.Sprintf("//line %s:%d\n%s", readme, b.line, b.text), nil
	}
	function := fmt.Sprintf("func _() {\n//line %s:%d\n%s", readme, b.line, b.text)
	file, err := parser.ParseFile(token.NewFileSet(), "", "package snippets\n"+function+"}\n", 0)
	if err != nil {
		return "", "", err
	}
	imports := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok && packages[of.Name] != "" {
				imports[packages[of.Name]] = true
			}
		}
		return true
	})
	source = "package snippets\n\n"
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		source += fmt.Sprintf("import %q\n", path)
	}
	return fmt.Sprintf("snippets/line_%d.go", b.line), source + function + used(file) + "}\n", nil
}

// used are statements that use the variables which the function of a file declares.
func used(file *ast.File) string {
	uses := ""
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		for _, statement := range function.Body.List {
			assignment, ok := statement.(*ast.AssignStmt)
			if !ok || assignment.Tok != token.DEFINE {
				continue
			}
			for _, variable := range assignment.Lhs {
				if ident, ok := variable.(*ast.Ident); ok && ident.Name != "_" {
					uses += "_ = " + ident.Name + "\n"
				}
			}
		}
	}
	return uses
}

// workspace returns the folder of an empty module, and the go.work in which it knows all modules of the repository.
func workspace(t *testing.T) (dir, goWork string) {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	modules, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.work.sum"))
	require.NoError(t, err)
	dir = t.TempDir()
	folder := regexp.MustCompile(`(?m)(^\t|=> )\.(\S*)$`)
	text := folder.ReplaceAllString(string(modules), "$1\""+filepath.ToSlash(root)+"$2\"")
	goWork = filepath.Join(dir, "go.work")
	write(t, goWork, text+"\nuse .\n")
	write(t, filepath.Join(dir, "go.work.sum"), string(sums))
	write(t, filepath.Join(dir, "go.mod"), "module programa\n\ngo 1.26.0\n")
	return dir, goWork
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}
