package fiscope_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

func TestTheLimiterSpacesTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []handler{raw(200, record)}}
		client := newClient(t, s, fiscope.WithRateLimit(rate.Every(time.Minute), 1))
		start := time.Now()
		for range 3 {
			require.NoError(t, operations["consultar"](t.Context(), client), "the wait lies outside the attempt's timeout")
		}
		assert.Equal(t, 2*time.Minute, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		err := operations["consultar"](ctx, client)
		assert.Zero(t, time.Since(start), "a wait that the deadline does not allow is not begun")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, classes(err))
		assert.ErrorContains(t, err, "nothing was sent")
		assert.Len(t, s.seen(), 3)
	})
}
