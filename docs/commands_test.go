package docs_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var runCommands = flag.Bool("commands", false, "run all commands of README.md and of the Dockerfile: a minute or two, with npm and modules of the network")

// The first program of README.md, under the mock, prints what stands below it. README.es.md has the same code.
func TestTheFirstProgram(t *testing.T) {
	readme := repository(t)["README.md"]
	dir, goWork := workspace(t)
	write(t, filepath.Join(dir, "main.go"), blocksOf(readme, "go")[0].text)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin")+"/", "./cmd/fiscope-mock")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	transcript := blocksOf(readme, "console")[0].text
	line, want, _ := strings.Cut(strings.TrimPrefix(transcript, "$ "), "\n")
	program := exec.CommandContext(t.Context(), "sh", "-c", line)
	program.Dir = dir
	program.Env = append(os.Environ(), "GOWORK="+goWork, "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err = program.CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, want, regexp.MustCompile(`(?m) +$`).ReplaceAllString(string(out), "")) // a table has blanks at its ends
}

// script is how a block of commands is run, which begins with the command of its name.
type script struct {
	folder  string   // in which: "fiscope" for the clone, "" for the folder that it stands in
	replace []string // what cannot stand as it is, and what is run in its place
	says    []string // in what it prints
}

var scripts = map[string]script{
	"go run ./examples/quickstart": {folder: "fiscope", replace: []string{"go test ./...", ""}, says: []string{"Listo."}},                 // which runs this test
	"cp -r fiscope/examples/":      {replace: []string{"go run .", "{ go run . || [ $? = 1 ]; }"}, says: []string{"Por revisar: 3 de 5"}}, // there is something to review
	"go run ./cmd/fiscope-mock padron": {folder: "fiscope", replace: []string{ // the registry is made here, and served to a command
		"fiscope-mock padron", "fiscope-mock padron generate -rows 1000 padron_reducido_ruc.zip && go run ./cmd/fiscope-mock padron",
		"fiscope-mock -padron", "fiscope-mock exec -padron", ".idx ", ".idx -- true ",
	}, says: []string{"padron_reducido_ruc.idx está hecho", "llamadas: 0"}},
	"(cd fiscope && go install": {replace: []string{"go mod tidy", "cp ../main.go . && go mod tidy"}, says: []string{"SUNAT true\n"}},
}

// Each block of commands in README.md and examples/README.md is run as it stands by somebody who follows it, in the order of the page.
func TestTheCommands(t *testing.T) {
	files := repository(t)
	readme := files["README.md"] + files["examples/README.md"]
	unused := map[string]bool{}
	for begins := range scripts {
		unused[begins] = true
	}
	var ready []func(*testing.T, reader)
	for _, b := range blocksOf(readme, "sh") {
		how, known := script{}, false
		for begins, s := range scripts {
			if strings.HasPrefix(b.text, begins) {
				how, known = s, true
				delete(unused, begins)
			}
		}
		require.True(t, known, "README.md:%d: no script runs this block:\n%s", b.line, b.text)
		ready = append(ready, func(t *testing.T, r reader) { r.run(t, b, how) })
	}
	require.Empty(t, unused, "these blocks are no longer in README.md")
	if !*runCommands {
		t.Skip("left out: the commands are run with -commands")
	}
	r := newReader(t, readme)
	for _, run := range ready {
		run(t, r)
	}
}

// reader is somebody with a clone in a folder, and what README.md says beside it.
type reader struct {
	dir string
	env []string
}

func newReader(t *testing.T, readme string) reader {
	t.Helper()
	r := reader{dir: t.TempDir()}
	clone(t, filepath.Join(r.dir, "fiscope"))
	write(t, filepath.Join(r.dir, "main.go"), blocksOf(readme, "go")[0].text)
	bin := filepath.Join(r.dir, "bin")
	r.env = append(os.Environ(), "GOWORK=", "GOFLAGS=", "GOBIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return r
}

func (r reader) run(t *testing.T, b block, how script) {
	t.Helper()
	text := strings.NewReplacer(how.replace...).Replace(b.text)
	file := filepath.Join(r.dir, "script")
	write(t, file, "set -e\n"+text)
	cmd := exec.CommandContext(t.Context(), "sh", file)
	cmd.Dir, cmd.Env = filepath.Join(r.dir, how.folder), r.env
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "README.md:%d:\n%s\n%s", b.line, text, out)
	for _, says := range how.says {
		assert.Contains(t, string(out), says, "README.md:%d", b.line)
	}
}

// clone copies the files of the repository, without its history.
func clone(t *testing.T, dir string) {
	t.Helper()
	for name := range repository(t) {
		content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		require.NoError(t, err)
		write(t, filepath.Join(dir, filepath.FromSlash(name)), string(content))
	}
}
