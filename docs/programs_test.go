package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// The day of the reset is another one tomorrow.
	someDay = regexp.MustCompile(`[a-zéá]+ \d+ de [a-z]+ a las`)
	atEnd   = regexp.MustCompile(`(?m) +$`) // of a table
	prompt  = regexp.MustCompile(`(?m)^\$ (.*)\n((?:[^$\n].*\n|\n)*)`)
)

// Each command of docs/programs.md prints what stands below it. A file that is shown is there for the next one.
func TestTheRecordings(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+string(os.PathSeparator), "./cmd/fiscope", "./cmd/fiscope-mock")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	ran := 0
	for _, b := range blocksOf(repository(t)["docs/programs.md"], "console") {
		for _, recorded := range prompt.FindAllStringSubmatch(b.text, -1) {
			line, want := recorded[1], recorded[2]
			if file, ok := strings.CutPrefix(line, "cat "); ok {
				write(t, filepath.Join(dir, file), want)
				continue
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "FISCOPE_BASE_URL=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			said, _ := cmd.CombinedOutput() // its error is the status, which a recording shows where it matters
			got := atEnd.ReplaceAllString(string(said), "")
			assert.Equal(t, someDay.ReplaceAllString(want, "DÍA a las"), someDay.ReplaceAllString(got, "DÍA a las"), line)
			ran++
		}
	}
	assert.Equal(t, 9, ran)
}
