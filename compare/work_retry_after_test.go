package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		c    contender
		want patience
	}{
		{ours, patience{requests: 1, told: true}},
		{contenders[0], patience{requests: 1, told: true}},
		{contenders[1], patience{took: 48 * time.Hour, requests: 3, told: true}}, // retryablehttp
	} {
		t.Run(test.c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := measureRetryAfter(t.Context(), test.c, 100*time.Hour)
				require.NoError(t, err)
				assert.Equal(t, test.want, p)
			})
		})
	}
}

func TestACallThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := measureRetryAfter(t.Context(), contenders[1], time.Minute)
		require.NoError(t, err)
		assert.Equal(t, patience{took: time.Minute, given: true, requests: 1}, p)
	})
}
