// Package build says what a program was built from, as the Go command recorded it: the version of this module and, for
// a program of this module, the commit.
package build

import (
	"cmp"
	"runtime/debug"
	"sync"
)

// The path of this module.
const module = "github.com/fiscope/fiscope"

// Unversioned is the Version if it is unknown: a go.mod or go.work names a folder, or another tool built the program.
const Unversioned = "(devel)"

// Info says what a program was built from.
type Info struct {
	Version  string // of this module, such as "v0.1.0", or Unversioned
	Commit   string // of a program of this module, in hexadecimal; "" if unknown
	Date     string // of the commit, in UTC (RFC 3339); "" if unknown
	Modified bool   // there were uncommitted changes
}

// Read returns the Info of this program.
var Read = sync.OnceValue(func() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return Of(info)
})

// Of returns the Info of a program with this build information. If this module is replaced, the replacement's version
// counts: a folder has none.
func Of(info *debug.BuildInfo) Info {
	b := Info{Version: Unversioned}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			b.Version = cmp.Or(cmp.Or(m.Replace, m).Version, Unversioned)
		}
	}
	if info.Main.Path != module { // the commit is the main module's
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
