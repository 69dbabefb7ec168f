package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestMemoria(t *testing.T) {
	const hold = time.Minute
	m, err := abrirMemoria(t.TempDir())
	require.NoError(t, err)
	claim := func() fiscope.ClaimState {
		c, err := m.Claim(t.Context(), "cafe", hold)
		require.NoError(t, err)
		return c.State
	}
	conclude := func(v fiscope.Verdict) {
		require.NoError(t, m.Conclude(t.Context(), "cafe", fiscope.Claim{}, v, time.Hour))
	}

	assert.Equal(t, fiscope.ClaimGranted, claim())
	assert.Equal(t, fiscope.ClaimBusy, claim(), "another process tries it")
	died := time.Now().Add(-2 * hold)
	require.NoError(t, os.Chtimes(m.de("cafe"), died, died))
	assert.Equal(t, fiscope.ClaimGranted, claim(), "that process died")
	assert.Equal(t, fiscope.ClaimBusy, claim())

	conclude(fiscope.VerdictNone)
	assert.Equal(t, fiscope.ClaimGranted, claim(), "it came to nothing")
	conclude(fiscope.VerdictProven)
	assert.Equal(t, fiscope.ClaimGranted, claim(), "a good clave is not kept")

	conclude(fiscope.VerdictRefused)
	require.NoError(t, os.Chtimes(m.de("cafe"), died, died))
	c, err := m.Claim(t.Context(), "cafe", hold)
	require.NoError(t, err)
	assert.Equal(t, fiscope.ClaimRefused, c.State, "for good")
	assert.WithinDuration(t, died, c.Since, time.Second)

	require.NoError(t, m.Forget(t.Context(), "cafe"))
	require.NoError(t, m.Forget(t.Context(), "cafe"))
	assert.Equal(t, fiscope.ClaimGranted, claim())

	_, err = abrirMemoria("")
	require.ErrorContains(t, err, "-memoria")
}
