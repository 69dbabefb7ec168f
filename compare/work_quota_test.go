package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheEndOfTheQuota(t *testing.T) {
	us, err := measureQuota(t.Context(), ours, 200)
	require.NoError(t, err)
	assert.Equal(t, quotaEnd{answered: 20}, us)

	byHand, err := measureQuota(t.Context(), contenders[0], 200)
	require.NoError(t, err)
	assert.Equal(t, quotaEnd{answered: 20, inVain: 180}, byHand)
}
