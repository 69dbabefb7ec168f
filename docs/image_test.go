package docs_test

import (
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
	assert.Equal(t, []string{`["/fiscope", "serve"]`, `["/fiscope-mock"]`}, image["ENTRYPOINT"])
	assert.Equal(t, []string{
		"--from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/", "--from=build /fiscope /fiscope", "--from=build /fiscope-mock /fiscope-mock",
	}, image["COPY"])
	assert.Regexp(t, `CMD \["/fiscope-mock", "health", "http://127\.0\.0\.1:`+image["EXPOSE"][1]+`"\]$`, image["HEALTHCHECK"][0])
	assert.Contains(t, image["RUN"][0], " -o / ./cmd/fiscope ./cmd/fiscope-mock")
	assert.Equal(t, []string{"/src"}, image["WORKDIR"])
	assert.Contains(t, image["RUN"][0], "--mount=type=bind,target=. ", "the files, which nothing copies")

	for _, name := range regexp.MustCompile(`FISCOPE_SERVE_[A-Z_]+`).FindAllString(files["Dockerfile"]+files["docs/docker.md"], -1) {
		assert.Contains(t, files["cmd/fiscope/serve.go"], `flag("`+strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "FISCOPE_SERVE_")), "_", "-")+`"`, name)
	}
	for _, file := range []string{"Dockerfile", "docs/docker.md"} {
		names := regexp.MustCompile(`FISCOPE_MOCK_[A-Z_]+`).FindAllString(files[file], -1)
		assert.NotEmpty(t, names)
		for _, name := range names {
			flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "FISCOPE_MOCK_")), "_", "-")
			assert.Contains(t, settings, `name: "`+flag+`"`, "a variable of the program, in %s", file)
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
