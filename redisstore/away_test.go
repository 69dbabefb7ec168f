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
		assert.Equal(t, fiscope.QuotaAway, b.reserve(s, 0).Grant, "Redis never gave it one")
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

func TestARedisThatForgotIsAnUnknownDay(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(one, 100, reset)
		for range 20 {
			b.settle(other, b.granted(other), silent)
		}
		for range 10 {
			b.granted(other) // under way
		}
		b.mini.FlushAll()
		time.Sleep(time.Second)
		first := b.granted(one)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
		time.Sleep(time.Second)
		b.settle(one, first, header(79, reset.Add(time.Second))) // none of those under way has arrived
		b.granted(other)
		assert.Equal(t, 79-10-1, b.drain(one)+b.drain(other))
	})
}

func TestWhatIsHeldOfADayThatRedisForgotIsHeldNoMore(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithLease(20), redisstore.WithShare(5), redisstore.WithName("a"))
		reset := in(time.Hour)
		b.open(s, 400, reset)
		b.settle(s, b.granted(s), silent)
		b.mini.FlushAll()
		time.Sleep(time.Second)
		b.open(b.store(), 398, reset)
		for range 19 { // of its lease: Redis is not asked
			b.settle(s, b.granted(s), silent)
		}
		assert.Equal(t, 398-19, b.drain(s), "and it has a share again")
		late := b.store()
		assert.Zero(t, b.drain(late))
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
		assert.Equal(t, 399-20-1, b.drain(fresh)+b.drain(old), "the first one may be counted already")
	})
}

func TestARedisThatForgotTheLastMomentsIsToldByTheNextHeader(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(s, 100, reset)
		b.settle(other, b.granted(other), header(99, reset))
		takeOver := b.replica()
		for n := range 10 {
			b.settle(s, b.granted(s), header(98-n, reset))
		}
		time.Sleep(time.Second)
		takeOver()
		b.settle(s, b.granted(s), header(88, reset))
		assert.Equal(t, 88, b.drain(s)+b.drain(other))
	})
}

func TestARedisThatForgotTheLastMomentsIsAnUnknownDay(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(s, 100, reset)
		b.settle(other, b.granted(other), silent)
		takeOver := b.replica()
		for range 10 {
			b.settle(s, b.granted(s), silent)
		}
		for range 5 {
			b.granted(s) // under way
		}
		time.Sleep(time.Second)
		takeOver()
		first := b.granted(s)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
		time.Sleep(time.Second)
		b.settle(s, first, header(100-1-10-1, reset))
		assert.Equal(t, 88-5, b.drain(other)+b.drain(s))
	})
}

func TestALateAnswerIsNotLost(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 10, in(time.Hour))
		b.hang.Store(int64(2 * time.Second))
		assert.Equal(t, fiscope.QuotaAway, b.reserve(s, 0).Grant)
		time.Sleep(10 * time.Second) // what is put back is two round trips, since Redis does not know the script yet
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
