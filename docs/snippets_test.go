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
)

// readmes are the files whose snippets are compiled: each block of Go, with nothing left out of it.
var readmes = []string{"README.md", "README.es.md"}

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
	"context": "context", "errors": "errors", "fmt": "fmt", "log": "log", "os": "os", "time": "time",
	"fiscope":    "github.com/fiscope/fiscope",
	"mockserver": "github.com/fiscope/fiscope/mockserver",
	"padron":     "github.com/fiscope/fiscope/padron",
	"redis":      "github.com/redis/go-redis/v9",
	"redisstore": "github.com/fiscope/fiscope/redisstore",
}

func TestSnippetsCompile(t *testing.T) {
	files := repository(t)
	for _, readme := range readmes {
		t.Run(readme, func(t *testing.T) {
			dir, goWork := workspace(t)
			snippets := blocksOf(files[readme], "go")
			require.Greater(t, len(snippets), 5)
			write(t, filepath.Join(dir, "snippets", "given.go"), given)
			for _, b := range snippets {
				name, source, err := compilable(readme, b)
				require.NoError(t, err)
				write(t, filepath.Join(dir, filepath.FromSlash(name)), source)
			}
			for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} { // a snippet that is a test passes, too
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+goWork)
				out, err := cmd.CombinedOutput()
				assert.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
			}
		})
	}
}

func TestWrongSnippetsAreFound(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"a name that is not there":  {"c, err := client.Contribuyentes.Consulta(ctx, ruc)\n", "Consulta undefined"},
		"two declarations in a row": {"a := 1\na := 2\n", "no new variables"},
		"what is not given":         {"client.CPE.Validar(ctx, nada, cred)\n", "undefined: nada"},
		"a package that is not":     {"nada.Nada()\n", "undefined: nada"},
		"something left out":        {"if true {\n\t...\n}\n", "expected"},
		"a whole file":              {"package main\n\nfunc main() { nada() }\n", "undefined: nada"},
		"a test that fails":         {"package p\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Error(\"falla\") }\n", "falla"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, goWork := workspace(t)
			write(t, filepath.Join(dir, "snippets", "given.go"), given)
			file, source, err := compilable("README.md", block{"go", 100, test.text})
			if err != nil {
				assert.ErrorContains(t, err, test.says)
				assert.ErrorContains(t, err, "README.md:10")
				return
			}
			write(t, filepath.Join(dir, filepath.FromSlash(file)), source)
			cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK="+goWork)
			out, err := cmd.CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), test.says)
			assert.Contains(t, string(out), "README.md:10", "where it is said")
		})
	}
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
	folder := regexp.MustCompile(`(?m)^\t\.(\S*)$`)
	text := folder.ReplaceAllString(string(modules), "\t"+filepath.ToSlash(root)+"$1")
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
