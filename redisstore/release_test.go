package redisstore_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (b *bed) left() string { return b.mini.HGet("fiscope:{"+account+"}:quota:3:day", "left") }

// Questions that asked for the share, and are answered when it was released.
func TestAShareIsReleasedOnce(t *testing.T) {
	for name, releases := range map[string]time.Duration{
		"before the first answer":        50 * time.Millisecond,
		"between the first and the next": 110 * time.Millisecond,
		"after all answers":              time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				first := b.store()
				b.open(first, 1000, in(time.Hour))
				b.settle(first, b.granted(first), silent) // the scripts are loaded
				s := b.store(redisstore.WithShare(50))
				b.hang.Store(int64(100 * time.Millisecond))
				go func() { b.settle(s, b.reserve(s, 0), silent) }()
				time.Sleep(40 * time.Millisecond)
				go func() { b.settle(s, b.reserve(s, 10), silent) }() // is next
				time.Sleep(time.Millisecond)
				go func() { b.settle(s, b.reserve(s, 20), silent) }() // another reserve: asked at once
				time.Sleep(releases - 41*time.Millisecond)
				require.NoError(t, s.Release(context.Background()))
				time.Sleep(time.Second)
				b.hang.Store(0)
				require.NoError(t, s.Release(context.Background()))
				require.NoError(t, s.Release(context.Background()))
				time.Sleep(time.Second)
				assert.Equal(t, "996", b.left(), "1000, and 4 were sent")
				b.granted(s)
				assert.Equal(t, "945", b.left(), "it has a share again")
			})
		})
	}
}

func TestAQueryOfTheShareThatIsGivenBackAfterARelease(t *testing.T) {
	for name, again := range map[string]bool{"without another share": false, "with another share": true} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store(redisstore.WithShare(5))
				b.open(s, 100, in(time.Hour))
				b.settle(s, b.granted(s), silent)
				b.fail.Store(true)
				held := b.granted(s) // of the share
				b.fail.Store(false)
				time.Sleep(time.Second)
				require.NoError(t, s.Release(context.Background()))
				assert.Equal(t, "98", b.left())
				want := "99"
				if again {
					b.settle(s, b.granted(s), silent)
					want = "98"
				}
				b.settle(s, held, fiscope.Outcome{}) // it was not sent
				require.NoError(t, s.Release(context.Background()))
				assert.Equal(t, want, b.left())
			})
		})
	}
}

// A share of which the answer was lost goes back with the next Release.
func TestAShareOfALostAnswerIsReleased(t *testing.T) {
	onBed(t, func(b *bed) {
		first := b.store()
		b.open(first, 100, in(time.Hour))
		b.settle(first, b.granted(first), silent)
		s := b.store(redisstore.WithShare(5))
		b.loses(1)
		b.settle(s, b.granted(s), silent) // it asks again
		require.NoError(t, s.Release(context.Background()))
		assert.Equal(t, "97", b.left(), "one of the lost answer")
	})
}

// Nothing is made out of nothing, however the questions and releases cross.
func TestReleaseUnderTrafficIsExact(t *testing.T) {
	r := startServer(t)
	if r.mini != nil {
		t.Skip("install redis-server to run this test: on miniredis no question overtakes another")
	}
	const quota = 1_000_000
	ctx := context.Background()
	rdb := r.client(t)
	s, err := redisstore.New(rdb, redisstore.WithShare(50), redisstore.WithTimeout(5*time.Second))
	require.NoError(t, err)
	b := &bed{t: t, client: rdb}
	b.open(s, quota, in(time.Hour))
	var sent atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for i := range 50 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := s.Reserve(ctx, account, i%2)
				if err == nil && r.Grant == fiscope.QuotaGranted {
					sent.Add(1)
					_ = s.Settle(ctx, account, r, silent)
				}
			}
		})
	}
	for range 300 {
		assert.NoError(t, s.Release(ctx))
		time.Sleep(3 * time.Millisecond)
	}
	close(stop)
	callers.Wait()
	for range 2 { // what was asked for before a Release goes back in the background
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, s.Release(ctx))
	}
	left, err := strconv.Atoi(rdb.HGet(ctx, "fiscope:{"+account+"}:quota:3:day", "left").Val())
	require.NoError(t, err)
	assert.Equal(t, quota, left+int(sent.Load()))
}

// One lease, of which a part was reserved when little was left: what is left now counts.
func TestALeaseThatWasTakenWhenLittleWasLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(redisstore.WithLease(20)), b.store()
		b.open(s, 400, in(time.Hour))
		require.NoError(t, s.Release(context.Background()))
		var held []fiscope.Reservation
		for range 368 {
			held = append(held, b.granted(other))
		}
		b.granted(s) // and one in its lease
		for _, r := range held {
			b.settle(other, r, fiscope.Outcome{}) // were not sent
		}
		trips := b.trips(func() {
			for range 10 {
				b.require(s, 50)
			}
		})
		assert.Equal(t, 1, trips)
	})
}

// require is granted one query by one who keeps some.
func (b *bed) require(s *redisstore.Store, keep int) {
	b.t.Helper()
	r := b.reserve(s, keep)
	require.Equal(b.t, fiscope.QuotaGranted, r.Grant, "%+v", r)
}
