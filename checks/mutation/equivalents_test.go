package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadEquivalents(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want map[string]string
		err  string
	}{
		"none":                 {"# of none\n", map[string]string{}, ""},
		"two":                  {"# these:\na => b\n\tsince it is\n\n\tso\nc => d\n  why not\n", map[string]string{"a => b": "since it is so", "c => d": "why not"}, ""},
		"no line break":        {"a => b\n\twhy", map[string]string{"a => b": "why"}, ""},
		"one without a reason": {"a => b\nc => d\n\twhy\n", nil, ":2: the mutant before this line has no reason: a => b"},
		"the last without one": {"a => b\n", nil, ":2: the mutant before this line has no reason: a => b"},
		"a reason of none":     {"\twhy\n", nil, ":1: a reason, and no mutant before it"},
		"one twice":            {"a => b\n\twhy\na => b\n\twhy\n", nil, ":3: it is there twice: a => b"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "equivalents.txt")
			require.NoError(t, os.WriteFile(file, []byte(test.text), 0o600))
			got, err := readEquivalents(file)
			assert.Equal(t, test.want, got)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, file+test.err)
		})
	}
}

// The list of this repository can be read.
func TestTheEquivalents(t *testing.T) {
	_, err := readEquivalents("equivalents.txt")
	require.NoError(t, err)
}
