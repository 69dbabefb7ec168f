// Package build says of what a program was built, as the Go command has written it into the program: which
// version of this module it has, and where it is a program of this module, of which commit.
package build

import (
	"cmp"
	"runtime/debug"
	"sync"
)

// Module is the path of this module.
const Module = "github.com/fiscope/fiscope"

// Unversioned is the Version if it is unknown: the module is a folder that a go.mod or a go.work names, or
// something other than the Go command built the program.
const Unversioned = "(devel)"

// Info says of what a program was built.
type Info struct {
	Version  string // of this module, as in "v0.1.0", or Unversioned
	Commit   string // of a program of this module, in hexadecimal; "" where it is not known
	Date     string // of the commit, in UTC as RFC 3339 has it; "" where it is not known
	Modified bool   // whether there was something that was not committed
}

// Read returns that of this program.
var Read = sync.OnceValue(func() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return Of(info)
})

// Of returns that of a program with this build information.
func Of(info *debug.BuildInfo) Info {
	if info.Main.Path != Module { // what is said of a commit is its own
		return Info{Version: dependency(info.Deps)}
	}
	b := Info{Version: cmp.Or(info.Main.Version, Unversioned)}
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

// dependency returns the version of this module among others. Of one that is replaced, that of what replaces
// it counts: a folder has none.
func dependency(modules []*debug.Module) string {
	for _, m := range modules {
		if m.Path != Module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, Unversioned)
	}
	return Unversioned
}
