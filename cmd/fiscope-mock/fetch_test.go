package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a team in another language does: its own tests, under exec, over http and https.
func TestOtherLanguages(t *testing.T) {
	for name, c := range map[string]struct {
		tool, install string
		command       []string
		says          string
	}{
		"node": {"node", "Node.js 18 or later", []string{"node", "testdata/fetch.mjs"}, "node: ok\n"},
		"curl": {"curl", "curl", []string{"sh", "testdata/curl.sh"}, "curl: ok\n"},
		// The machine of the tests need not have these: there is nothing to install for them.
		"python": {"python3", "", []string{"python3", "testdata/consulta.py"}, "python: ok\n"},
		"php":    {"php", "", []string{"php", "testdata/consulta.php"}, "php: ok\n"},
		"java":   {"javac", "", []string{"java", asciiCopy(t, "testdata/Consulta.java")}, "java: ok\n"},
	} {
		for scheme, flags := range map[string][]string{"http": nil, "https": {"-tls"}} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				_, err := exec.LookPath(c.tool)
				if err == nil && c.tool == "php" {
					err = exec.Command("php", "-r", "curl_version();").Run()
				}
				switch {
				case err != nil && c.install == "":
					t.Logf("left out: %v", err)
					return
				case err != nil:
					t.Skipf("install %s to run this test: %v", c.install, err)
				}
				args := append(append([]string{"exec"}, flags...), append([]string{"--"}, c.command...)...)
				stdout, stderr, status := runProgram(t, nil, args...)
				require.Equal(t, 0, status, "%s%s", stdout, stderr)
				assert.Equal(t, c.says, stdout, "nothing but the command's own output")
				assert.Contains(t, stderr, "consultas gastadas")
			})
		}
	}
}

// asciiCopy copies a file to a folder whose name Java can read in every locale.
func asciiCopy(t *testing.T, name string) string {
	t.Helper()
	return writeFile(t, t.TempDir(), filepath.Base(name), string(readFile(t, name)))
}
