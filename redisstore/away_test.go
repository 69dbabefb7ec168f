package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharing returns processes with a share of 5, of a day of 100 with one query used for the first and one
// for each.
func sharing(b *bed, n int, opts ...redisstore.Option) (all []*redisstore.Store) {
	for i := range n {
		s := b.store(append([]redisstore.Option{redisstore.WithShare(5), redisstore.WithName(string(rune('a' + i)))}, opts...)...)
		if i == 0 {
			b.open(s, 100, in(time.Hour))
		}
		b.granted(s)
		all = append(all, s)
	}
	return all
}

func TestWithoutRedisOnlyTheShareIsSent(t *testing.T) {
	onBed(t, func(b *bed) {
		all := sharing(b, 3)
		b.fail.Store(true)
		for _, s := range all {
			assert.Equal(t, 5, b.drain(s))
			time.Sleep(2 * time.Second)
			assert.Zero(t, b.drain(s), "a share is not given twice")
		}
		b.fail.Store(false)
		time.Sleep(2 * time.Second)
		assert.Equal(t, 100-3-3*5, b.drain(all[0]), "Redis never hands out what is set aside")
	})
}

func TestAProcessWithoutAShareSendsNothingWithoutRedis(t *testing.T) {
	onBed(t, func(b *bed) {
		b.fail.Store(true)
		s := b.store(redisstore.WithShare(5))
		assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 0).Grant, "Redis never gave it one")
	})
}

func TestSharesTakeAtMostAQuarter(t *testing.T) {
	onBed(t, func(b *bed) {
		all := sharing(b, 10)
		b.fail.Store(true)
		sum := 0
		for _, s := range all {
			sum += b.drain(s)
		}
		assert.Equal(t, 25, sum)
	})
}

func TestARestartedProcessHasNoSecondShare(t *testing.T) {
	onBed(t, func(b *bed) {
		sharing(b, 1) // and it is killed
		again := b.store(redisstore.WithShare(5), redisstore.WithName("a"))
		b.granted(again)
		b.fail.Store(true)
		assert.Zero(t, b.drain(again))
	})
}

func TestAtTheEndOfTheDayAShareIsUsed(t *testing.T) {
	onBed(t, func(b *bed) {
		all := sharing(b, 2)
		assert.Equal(t, 100-2-5, b.drain(all[0]))
		assert.Equal(t, 5, b.drain(all[1]))
	})
}

func TestAShareIsNotForThoseWhoKeepSome(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		b.drain(b.store())
		assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 1).Grant)
		b.granted(s)
	})
}

func TestALeaseServesWithoutRedis(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithLease(5))
		b.open(s, 1000, in(time.Hour))
		b.granted(s)
		b.fail.Store(true)
		assert.Equal(t, 4, b.drain(s))
	})
}

func TestARedisThatForgotIsToldByTheProcesses(t *testing.T) {
	onBed(t, func(b *bed) {
		all := sharing(b, 3) // 82 are left
		for range 30 {
			b.granted(all[2])
		}
		b.mini.FlushAll()
		fresh := b.store()
		assert.Equal(t, fiscope.QuotaWait, b.reserve(all[0], 0).Grant, "the others have time to tell what they know")
		assert.Equal(t, fiscope.QuotaWait, b.reserve(all[2], 0).Grant)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(fresh, 0).Grant)
		time.Sleep(3 * time.Second)
		assert.Equal(t, 52, b.drain(fresh))
		assert.Equal(t, 5, b.drain(all[0]), "its share is still its own")
		assert.Equal(t, 5, b.drain(all[1]))
	})
}

func TestARedisThatForgotAndWasAskedByANewProcessFirst(t *testing.T) {
	onBed(t, func(b *bed) {
		old := b.store(redisstore.WithLease(20))
		reset := in(time.Hour)
		b.open(old, 400, reset)
		b.granted(old) // 19 in its lease
		b.mini.FlushAll()
		fresh := b.store()
		b.open(fresh, 399, reset) // the service does not know of the lease
		sum := 0
		for range 19 {
			b.granted(old)
			sum++
		}
		b.granted(old) // tells
		assert.Equal(t, 399-20, b.drain(fresh)+b.drain(old))
	})
}

func TestARedisThatForgotTheLastMoments(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.open(s, 100, in(time.Hour))
		b.granted(other)
		takeOver := b.replica()
		for range 10 {
			b.granted(s)
		}
		takeOver()
		b.granted(other)
		b.granted(other) // meanwhile others go on
		b.granted(s)
		assert.Equal(t, 100-1-10-2-1, b.drain(other))
	})
}

func TestALateAnswerIsNotLost(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 10, in(time.Hour))
		b.hang.Store(int64(2 * time.Second))
		assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 0).Grant)
		time.Sleep(3 * time.Second)
		b.hang.Store(0)
		assert.Equal(t, 10, b.drain(s))
	})
}

func TestAProbeForWhichNobodyWaitedIsGivenUp(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.hang.Store(int64(100 * time.Millisecond))
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := s.Reserve(ctx, account, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Second)
		b.hang.Store(0)
		b.open(b.store(), 3, in(time.Hour))
		assert.Equal(t, 3, b.drain(s))
	})
}
