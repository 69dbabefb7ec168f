package contracttest

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var withRedocly = flag.Bool("redocly", false, "lint the OpenAPI documents with "+redocly+" of npm, which it installs in a temporary folder")

const redocly = "@redocly/cli@2.77.0"

// A linter of other people's says of both documents what a reader, or a generator of clients, would stumble over.
func TestRedoclyFindsNoProblem(t *testing.T) {
	if !*withRedocly {
		t.Skip("add -redocly to run this test: it needs npm and a network")
	}
	folder := t.TempDir()
	command(t, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", redocly)
	for _, name := range []string{document, adminDocument} {
		t.Run(name, func(t *testing.T) {
			// The list of the admin API lies at /_mock/, and nothing at /_mock.
			cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "node_modules", ".bin", "redocly"),
				"lint", "--extends", "recommended-strict", "--skip-rule", "no-path-trailing-slash", "--format", "json", name)
			cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
			out, err := cmd.Output()
			var found struct {
				Totals struct{ Errors, Warnings int }
			}
			require.NoError(t, json.Unmarshal(out, &found), "%s", out)
			assert.NoError(t, err, "%s", out)
			assert.Zero(t, found.Totals, "%s", out)
		})
	}
}
