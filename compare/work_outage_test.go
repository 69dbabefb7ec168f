package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/compare/peers"
)

// few is one, and what a machine so busy costs that net/http waits too long for its own goroutine.
const few = 3

func TestAnOutage(t *testing.T) {
	const calls = 60
	byHand, err := measureOutage(t.Context(), contenders[0], calls)
	require.NoError(t, err)
	assert.Equal(t, calls, byHand.requests, "it makes one attempt")
	assert.Less(t, byHand.succeeded, calls, "some of them fail")
	assert.LessOrEqual(t, byHand.connections, few, "it reads every body")

	us, err := measureOutage(t.Context(), ours, calls)
	require.NoError(t, err)
	assert.Equal(t, calls, us.succeeded)
	assert.Greater(t, us.requests, calls)
	assert.LessOrEqual(t, us.connections, few)
}

// The measurement sees connections that are thrown away.
func TestAnOutageOnConnectionsThatAreNotKept(t *testing.T) {
	careless := contenders[0]
	careless.new = func(s peers.Setup) (peers.Client, error) {
		s.Transport.(*http.Transport).DisableKeepAlives = true
		return contenders[0].new(s)
	}
	o, err := measureOutage(t.Context(), careless, 20)
	require.NoError(t, err)
	assert.Equal(t, 20, o.connections)
}
