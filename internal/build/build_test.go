package build_test

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/build"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The texts are what "go version -m" prints of programs, less the names before them.
func TestOf(t *testing.T) {
	const (
		path   = "path\tgithub.com/fiscope/fiscope/cmd/fiscope-mock\n"
		commit = "build\tvcs=git\nbuild\tvcs.revision=f4b58cfc0e6ffcf0af641c07a207b532e1d6a0a9\nbuild\tvcs.time=2026-11-22T14:17:34Z\n"
		theirs = "path\tfacturador\nmod\tfacturador\tv3.2.1\t\n" + commit + "build\tvcs.modified=true\n"
		others = "dep\tgithub.com/fiscope/fiscope/redisstore\tv0.9.0\th1:a=\ndep\tgithub.com/redis/go-redis/v9\tv9.23.0\th1:b=\n"
	)
	for name, test := range map[string]struct {
		text string
		want build.Info
	}{
		"nothing":     {"", build.Info{Version: "(devel)"}},
		"a release":   {path + "mod\tgithub.com/fiscope/fiscope\tv0.1.0\th1:a=\n", build.Info{Version: "v0.1.0"}},
		"without one": {path + "mod\tgithub.com/fiscope/fiscope\t(devel)\t\n", build.Info{Version: "(devel)"}},
		"empty":       {path + "mod\tgithub.com/fiscope/fiscope\t\t\n", build.Info{Version: "(devel)"}},
		"a clone": {
			path + "mod\tgithub.com/fiscope/fiscope\tv0.1.0\t\n" + commit + "build\tvcs.modified=false\n",
			build.Info{Version: "v0.1.0", Commit: "f4b58cfc0e6ffcf0af641c07a207b532e1d6a0a9", Date: "2026-11-22T14:17:34Z"},
		},
		"a clone that was changed": {
			path + "mod\tgithub.com/fiscope/fiscope\tv0.1.0+dirty\t\n" + commit + "build\tvcs.modified=true\n",
			build.Info{Version: "v0.1.0+dirty", Commit: "f4b58cfc0e6ffcf0af641c07a207b532e1d6a0a9", Date: "2026-11-22T14:17:34Z", Modified: true},
		},
		"a dependency":           {theirs + others + "dep\tgithub.com/fiscope/fiscope\tv0.1.0\th1:a=\n", build.Info{Version: "v0.1.0"}},
		"replaced by a folder":   {theirs + "dep\tgithub.com/fiscope/fiscope\tv0.0.0\n=>\t../fiscope\t(devel)\t\n", build.Info{Version: "(devel)"}},
		"replaced, says nothing": {theirs + "dep\tgithub.com/fiscope/fiscope\tv0.0.0\n=>\t../fiscope\t\t\n", build.Info{Version: "(devel)"}},
		"replaced by a fork":     {theirs + "dep\tgithub.com/fiscope/fiscope\tv0.1.0\n=>\texample.com/fork\tv0.1.1\th1:a=\n", build.Info{Version: "v0.1.1"}},
		"in a workspace":         {theirs + "dep\tgithub.com/fiscope/fiscope\t(devel)\t\n", build.Info{Version: "(devel)"}},
		"not among them":         {theirs + others, build.Info{Version: "(devel)"}},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := debug.ParseBuildInfo(test.text)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, build.Of(info)))
		})
	}
}

func TestRead(t *testing.T) {
	assert.Equal(t, build.Info{Version: build.Unversioned}, build.Read(), "a test is of no version")
}
