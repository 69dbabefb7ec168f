package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The workflow runs .ci/run, at night with the newest Go too, may write nothing, ends, and runs no action that somebody can exchange: a tag moves, a
// commit does not.
func TestWorkflow(t *testing.T) {
	files := repository(t)
	workflow := files[".github/workflows/ci.yml"]
	assert.Contains(t, workflow, "\n      - run: .ci/run\n")
	assert.Contains(t, workflow, "\n  schedule:\n    - cron: ")
	assert.Contains(t, workflow, "\n      - run: .ci/run -nightly\n        if: github.event_name == 'schedule'\n")
	assert.Contains(t, workflow, "\npermissions:\n  contents: read\n\n")
	assert.Equal(t, 1, strings.Count(workflow, "permissions:"))
	assert.Contains(t, workflow, "\n    timeout-minutes: ")
	version := regexp.MustCompile(`\n          go-version: (\d+\.\d+)\.x `).FindStringSubmatch(workflow)
	require.NotNil(t, version, "the last patch of a version of Go: those before it lack fixes, which .ci/run looks for")
	assert.Contains(t, files["go.mod"], "\ngo "+version[1]+".")
	actions := regexp.MustCompile(`uses: .*`).FindAllString(workflow, -1)
	require.NotEmpty(t, actions)
	for _, action := range actions {
		assert.Regexp(t, `^uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`, action)
	}
}
