package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWrongClave(t *testing.T) {
	arrived, err := measureWrongClave(t.Context(), ours, 500)
	require.NoError(t, err)
	assert.Equal(t, 1, arrived)

	arrived, err = measureWrongClave(t.Context(), contenders[0], 500)
	require.NoError(t, err)
	assert.Equal(t, 500, arrived)
}
