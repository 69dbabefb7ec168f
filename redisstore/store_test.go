package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnswersAreKeptForTheirTime(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		ctx := context.Background()
		value, err := other.Load(ctx, "0123")
		require.NoError(t, err)
		assert.Nil(t, value)
		require.NoError(t, one.Save(ctx, "0123", []byte("\x00\xff"), time.Minute))
		require.NoError(t, one.Save(ctx, "4567", []byte("over"), 0))
		time.Sleep(59 * time.Second)
		value, err = other.Load(ctx, "0123")
		require.NoError(t, err)
		assert.Equal(t, []byte("\x00\xff"), value)
		time.Sleep(2 * time.Second)
		for _, key := range []string{"0123", "4567"} {
			value, err = other.Load(ctx, key)
			require.NoError(t, err)
			assert.Nil(t, value)
		}
	})
}
