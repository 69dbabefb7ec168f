package main

import (
	"debug/buildinfo"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/build"
)

func TestVersion(t *testing.T) {
	const commit, date = "f4b58cfc0e6ffcf0af641c07a207b532e1d6a0a9", "2026-11-22T14:17:34Z"
	platform := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	for name, test := range map[string]struct {
		of   build.Info
		want string
	}{
		"a release":                {build.Info{Version: "v0.1.0"}, "fiscope-mock v0.1.0"},
		"a clone that was changed": {build.Info{Version: "v0.1.0+dirty", Commit: commit, Date: date, Modified: true}, "fiscope-mock v0.1.0+dirty (commit f4b58cfc0e6f of 2026-11-22T14:17:34Z, modified)"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want+platform, version(test.of)) })
	}
}

// What Go has written into the built program is what it says.
func TestTheProgramSaysOfWhatItWasBuilt(t *testing.T) {
	program := binary(t)
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	for _, word := range []string{"version", "-version", "--version"} {
		stdout, stderr, status := runProgram(t, nil, word)
		assert.Zero(t, status)
		assert.Empty(t, stderr)
		assert.Equal(t, version(build.Of(info))+"\n", stdout, word)
	}
}
