// Package govulncheck_test holds no code, only a test of .ci/govulncheck: that it tells a vulnerability that was found from
// a database that cannot be reached.
package govulncheck_test

import (
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var withGovulncheck = flag.Bool("govulncheck", false, "run .ci/govulncheck, which builds a program that it may have to fetch")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const script = "../../.ci/govulncheck"

func TestVulnerabilities(t *testing.T) {
	if !*withGovulncheck {
		t.Skip("run it with -govulncheck")
	}
	calls := folderOf(t, map[string]string{
		"go.mod":  "module example.com/m\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"strings\"\n\nfunc main() { println(strings.Repeat(\"a\", 3)) }\n",
	})
	callsNot := folderOf(t, map[string]string{
		"go.mod":  "module example.com/m\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"strings\"\n\nfunc main() { println(strings.ToUpper(\"a\")) }\n",
	})
	// A database in which strings.Repeat of every Go has a vulnerability.
	database := folderOf(t, map[string]string{
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
	const notLooked = "NOT LOOKED FOR"

	for name, test := range map[string]struct {
		database, module string
		fails            bool
		says, saysNot    string
	}{
		"a vulnerability that is called":     {"file://" + database, calls, true, "GO-2026-0001", notLooked},
		"one that is not called":             {"file://" + database, callsNot, false, "No vulnerabilities found", notLooked},
		"a database that cannot be reached":  {"http://" + closed(t), calls, false, notLooked, "GO-2026-0001"},
		"one that is none":                   {"file://" + t.TempDir(), calls, true, "", notLooked},
		"an address at which another serves": {empty.URL, calls, true, "unrecognized vulndb format", notLooked},
		"a module that does not compile":     {"file://" + database, folderOf(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26.0\n", "a.go": "package a\n\nvar A int = true\n"}), true, "", notLooked},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), script, test.module)
			cmd.Env = append(os.Environ(), "GOVULNDB="+test.database)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, test.fails, err != nil, "%s", out)
			assert.Contains(t, string(out), test.says)
			assert.NotContains(t, string(out), test.saysNot)
		})
	}
}

// Without folders it looks into the modules of the workspace, and fails where it does not learn which these are.
func TestTheModulesOfTheWorkspaceMustBeKnown(t *testing.T) {
	database := folderOf(t, map[string]string{"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`})
	workspace := folderOf(t, map[string]string{"go.work": "<<<<<<<"})
	cmd := exec.CommandContext(t.Context(), script)
	cmd.Env = append(os.Environ(), "GOVULNDB=file://"+database, "GOWORK="+filepath.Join(workspace, "go.work"))
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "go.work:1")
}

// closed is an address of this machine at which nobody listens.
func closed(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return folder
}
