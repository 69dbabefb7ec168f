package docs_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

var withGovulncheck = flag.Bool("govulncheck", false, "try .ci/govulncheck, which builds a program that it may have to fetch")

// .ci/govulncheck distinguishes a vulnerability that was found from a database that cannot be reached.
func TestVulnerabilities(t *testing.T) {
	if !*withGovulncheck {
		t.Skip("left out: run it with -govulncheck")
	}
	module := func(body string) string {
		return folderOf(t, map[string]string{
			"go.mod":  "module example.com/m\n\ngo 1.26.0\n",
			"main.go": "package main\n\nimport \"strings\"\n\nfunc main() { println(strings." + body + ") }\n",
		})
	}
	calls, callsNot := module(`Repeat("a", 3)`), module(`ToUpper("a")`)
	// A database in which strings.Repeat of every Go has a vulnerability.
	database := "file://" + folderOf(t, map[string]string{
		"index/db.json":      `{"modified":"2026-01-01T00:00:00Z"}`,
		"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]}]`,
		"index/vulns.json":   `[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]`,
		"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z",
			"details":"for a test","affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"strings","symbols":["Repeat"]}]}}]}`,
	})
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	const notLooked = "NOT LOOKED FOR"

	for name, test := range map[string]struct {
		database, module string
		fails            bool
		says, saysNot    string
	}{
		"a vulnerability that is called":     {database, calls, true, "GO-2026-0001", notLooked},
		"one that is not called":             {database, callsNot, false, "No vulnerabilities found", notLooked},
		"a database that cannot be reached":  {closed.URL, calls, false, notLooked, "GO-2026-0001"},
		"an empty one":                       {"file://" + t.TempDir(), calls, true, "", notLooked},
		"an address at which another serves": {empty.URL, calls, true, "unrecognized vulndb format", notLooked},
		"a module that does not compile":     {database, module("Nada()"), true, "", notLooked},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "../.ci/govulncheck", test.module)
			cmd.Env = append(os.Environ(), "GOVULNDB="+test.database)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, test.fails, err != nil, "%s", out)
			assert.Contains(t, string(out), test.says)
			assert.NotContains(t, string(out), test.saysNot)
		})
	}
}

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(folder, filepath.FromSlash(name)), text)
	}
	return folder
}
