package otelfiscope

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"no information":   {nil, ""},
		"another program":  {&debug.BuildInfo{Main: debug.Module{Path: "example.com/a", Version: "v9.9.9"}}, ""},
		"a dependency":     {&debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/a", Version: "v9.9.9"}, {Path: scope, Version: "v0.3.1"}}}, "v0.3.1"},
		"one replaced":     {&debug.BuildInfo{Deps: []*debug.Module{{Path: scope, Version: "v0.0.0", Replace: &debug.Module{Path: "../otelfiscope", Version: "(devel)"}}}}, ""},
		"its own main":     {&debug.BuildInfo{Main: debug.Module{Path: scope, Version: "v0.3.2"}}, "v0.3.2"},
		"not of a version": {&debug.BuildInfo{Main: debug.Module{Path: scope, Version: "(devel)"}}, ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, versionIn(test.info)) })
	}
}
