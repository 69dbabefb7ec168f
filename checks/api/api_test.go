package api

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "record what is exported and was not")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// modules are those that others import.
var modules = []string{"../..", "../../redisstore", "../../otelfiscope"}

// What is exported is what the files beside this test say. Who adds something records it with -update. What is gone, or
// is another now, breaks those who use it: -update leaves it in its file, and who means it takes the line out by hand.
func TestWhatIsExported(t *testing.T) {
	recorded, now := recordedExports(t), presentExports(t)
	if *update {
		recorded = recorded.with(now)
		for file, lines := range recorded {
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		}
	}
	gone, added := changes(recorded, now)
	for _, line := range gone {
		t.Errorf("gone, which breaks those who use it:\n\t%s\n"+
			"Bring it back. Where it is meant, take the line out of that file of checks/api, and tell of it in the changelog.", line)
	}
	for _, line := range added {
		t.Errorf("exported, and not recorded yet:\n\t%s\nRun go test ./checks/api -update", line)
	}
}

func recordedExports(t *testing.T) exports {
	files, err := filepath.Glob("*.txt")
	require.NoError(t, err)
	recorded := exports{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		recorded[file] = strings.Split(strings.TrimSpace(string(content)), "\n")
	}
	return recorded
}

// presentExports are those of all packages that others can import.
func presentExports(t *testing.T) exports {
	present := exports{}
	for _, module := range modules {
		pkgs, err := packages.Load(&packages.Config{
			Mode: packages.LoadTypes,
			Dir:  module,
			Env:  append(os.Environ(), "GOWORK=off"), // as those who import it have it
		}, "./...")
		require.NoError(t, err)
		require.Zero(t, packages.PrintErrors(pkgs))
		for _, pkg := range pkgs {
			if pkg.Name == "main" || len(pkg.GoFiles) == 0 || strings.Contains(pkg.PkgPath+"/", "/internal/") {
				continue
			}
			file := path.Base(pkg.PkgPath) + ".txt"
			require.NotContains(t, present, file, "two packages are named so")
			present[file] = declarations(pkg.Types)
		}
	}
	return present
}
