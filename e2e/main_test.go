package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// repository is the folder of the root module.
const repository = ".."

// binary is the built program.
var binary string

// allTests are the tests between what they stand on: the built program and a browser.
type allTests struct{ *testing.M }

// Run builds the program and starts the browser, runs the tests, and ends what it began.
func (m allTests) Run() int {
	flag.Parse()
	folder, err := os.MkdirTemp("", "fiscope-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "fiscope-mock")
	build := exec.Command("go", "build", "-o", binary, "./cmd/fiscope-mock")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	stop, err := startBrowser(filepath.Join(folder, "profile"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return m.M.Run()
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(allTests{m})
}
