package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the Dockerfile and docs/docker.md name is there: Go's version, the program's folder, variables and port. No
// image is built: where there is an engine, "docker build" does.
func TestDockerfile(t *testing.T) {
	files := repository(t)
	image := readDockerfile(files["Dockerfile"])

	require.Len(t, image["FROM"], 3)
	builder := regexp.MustCompile(`golang:(\S+) AS build$`).FindStringSubmatch(image["FROM"][0])
	require.NotNil(t, builder)
	assert.Regexp(t, `(?m)^go `+regexp.QuoteMeta(builder[1])+`(\.\d+)?$`, files["go.mod"], "Go's version")
	assert.Equal(t, []string{"scratch AS serve", "scratch"}, image["FROM"][1:], "the last one is the mock's, without --target")

	for _, user := range image["USER"] {
		assert.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, user, "not root, and by number, as Kubernetes wants to see it")
	}
	require.Len(t, image["EXPOSE"], 2)
	assert.Equal(t, []string{"FISCOPE_SERVE_ADDR=:" + image["EXPOSE"][0], "FISCOPE_MOCK_ADDR=:" + image["EXPOSE"][1]}, image["ENV"])
	settings := files["cmd/fiscope-mock/settings.go"]
	assert.Contains(t, settings, `addr: "127.0.0.1:`+image["EXPOSE"][1]+`"`)
	assert.Contains(t, files["cmd/fiscope/serve.go"], `"127.0.0.1:`+image["EXPOSE"][0]+`"`)
	assert.Regexp(t, `CMD \["/fiscope-mock", "health", "http://127\.0\.0\.1:`+image["EXPOSE"][1]+`"\]$`, image["HEALTHCHECK"][0])
	assert.Contains(t, image["RUN"][0], " -o / ./cmd/fiscope ./cmd/fiscope-mock")
	for _, program := range []struct{ prefix, file, flag string }{
		{"FISCOPE_SERVE_", "cmd/fiscope/serve.go", `flag("%s"`}, {"FISCOPE_MOCK_", "cmd/fiscope-mock/settings.go", `name: "%s"`},
	} {
		for _, name := range regexp.MustCompile(program.prefix+"[A-Z_]+").FindAllString(files["Dockerfile"]+files["docs/docker.md"], -1) {
			flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, program.prefix)), "_", "-")
			assert.Contains(t, files[program.file], fmt.Sprintf(program.flag, flag), "a variable of the program")
		}
	}
}

// To git a file that the context leaves out is one that was removed: the program would call itself changed.
func TestTheContextLeavesOutWhatGitIgnores(t *testing.T) {
	files := repository(t)
	var ignored []string
	for line := range strings.Lines(files[".gitignore"]) {
		if name, rooted := strings.CutPrefix(strings.TrimSpace(line), "/"); rooted {
			ignored = append(ignored, name)
		} else {
			ignored = append(ignored, "**/"+name)
		}
	}
	var left []string
	for line := range strings.Lines(files[".dockerignore"]) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			left = append(left, line)
		}
	}
	assert.Equal(t, ignored, left)
}

// readDockerfile returns what follows each instruction, in the order of the file.
func readDockerfile(text string) map[string][]string {
	found := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" && !strings.HasPrefix(name, "#") {
			found[name] = append(found[name], strings.Join(strings.Fields(rest), " "))
		}
	}
	return found
}
