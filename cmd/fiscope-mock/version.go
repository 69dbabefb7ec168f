package main

import (
	"fmt"
	"runtime"

	"github.com/fiscope/fiscope/internal/build"
)

// shownDigits is how many digits of a commit are shown: as many as in a version that Go makes of one.
const shownDigits = 12

// version says in a line of what the program was built, and for which system.
func version(b build.Info) string {
	of := b.Version
	if b.Commit != "" {
		of += fmt.Sprintf(" (commit %.*s of %s", shownDigits, b.Commit, b.Date)
		if b.Modified {
			of += ", modified"
		}
		of += ")"
	}
	return fmt.Sprintf("fiscope-mock %s %s %s/%s", of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
