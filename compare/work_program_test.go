package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAProgram(t *testing.T) {
	p, err := buildProgram(t.Context(), contenders[0])
	require.NoError(t, err)
	assert.Greater(t, p.bytes, int64(1_000_000))
	assert.Zero(t, p.modules)
	assert.Zero(t, p.packages)
}

func TestLinesOfCode(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		want   int
	}{
		"comments and empty lines": {"// Package p is.\npackage p\n\n// x\nvar x = 1 // one\n", 2},
		"a text of two lines":      {"package p\n\nvar x = `a\nb`\n", 3},
		"of the comparison":        {"package p\n\nfunc (c *client) Held() {\n\tc.a()\n}\n\nfunc (c *client) Close() {}\n\nfunc (c *client) a() {\n}\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := linesOf([]byte(test.source))
			require.NoError(t, err)
			assert.Equal(t, test.want, lines)
		})
	}
	_, err := linesOf([]byte("no Go"))
	require.Error(t, err)
}

func TestTheLinesOfEveryContender(t *testing.T) {
	for _, c := range contenders {
		lines, err := linesOfCode(c.code)
		require.NoError(t, err, c.name)
		assert.Greater(t, lines, 20, c.name)
	}
}

// The other modules of the workspace ask for other versions, of which a program is of another size.
func TestAProgramIsBuiltOfItsOwnVersions(t *testing.T) {
	workspace, err := goCommand(t.Context(), ".", "env", "GOWORK")
	require.NoError(t, err)
	assert.Equal(t, "off", strings.TrimSpace(workspace))
}
