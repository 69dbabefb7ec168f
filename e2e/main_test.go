package e2e

import (
	"log"
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

// TestMain builds the program and starts the browser, runs the tests, and ends what it began.
func TestMain(m *testing.M) {
	log.SetFlags(0)
	folder, err := os.MkdirTemp("", "fiscope-e2e-")
	if err != nil {
		log.Fatalln(err)
	}
	binary = filepath.Join(folder, "fiscope-mock")
	build := exec.Command("go", "build", "-o", binary, "./cmd/fiscope-mock")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	stop := startBrowser(filepath.Join(folder, "profile"))
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		stop()
		_ = os.RemoveAll(folder)
		os.Exit(status)
	}))
}
