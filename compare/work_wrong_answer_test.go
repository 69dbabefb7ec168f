package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrongAnswers(t *testing.T) {
	us, err := measureWrongAnswers(t.Context(), ours)
	require.NoError(t, err)
	assert.Empty(t, us.silent)
	assert.Len(t, us.told, len(fiscopeAPI.wrong()), "each is told")

	byHand, err := measureWrongAnswers(t.Context(), contenders[0])
	require.NoError(t, err)
	assert.Equal(t, []string{"another object", "its id alone", "another id in it"}, byHand.silent)
}

func TestWrongAnswersAreWrong(t *testing.T) {
	for _, a := range []api{fiscopeAPI, githubAPI, hcloudAPI} {
		names := map[string]bool{}
		for _, wrong := range a.wrong() {
			assert.False(t, names[wrong.name], wrong.name)
			names[wrong.name] = true
			assert.True(t, wrong.body != a.found || wrong.cut, wrong.name)
		}
		assert.Len(t, names, len(fiscopeAPI.wrong()))
	}
}
