package main

import (
	"os/exec"
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
	} {
		for scheme, flags := range map[string][]string{"http": nil, "https": {"-tls"}} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				if _, err := exec.LookPath(c.tool); err != nil {
					t.Skipf("install %s to run this test: %v", c.install, err)
				}
				args := append(append([]string{"exec"}, flags...), append([]string{"--"}, c.command...)...)
				stdout, stderr, status := runProgram(t, nil, args...)
				require.Equal(t, 0, status, "%s%s", stdout, stderr)
				assert.Equal(t, c.says, stdout, "nothing but the command's own output")
				assert.Contains(t, stderr, "queries spent")
			})
		}
	}
}
