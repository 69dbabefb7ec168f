package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRedirects(t *testing.T) {
	us, err := measureRedirects(t.Context(), ours)
	require.NoError(t, err)
	assert.Equal(t, redirected{}, us)

	byHand, err := measureRedirects(t.Context(), contenders[0])
	require.NoError(t, err)
	assert.Equal(t, redirected{keys: 6, claves: 2}, byHand, "the other host sees what goes along")
}
