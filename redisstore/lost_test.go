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

// What came of the first attempt of a day holds the fleet no longer than Redis is away, though its process asks
// nothing more.
func TestTheFleetHearsOfTheFirstAttemptOnceRedisIsBack(t *testing.T) {
	for outage, change := range map[string]func(b *bed) (end func()){
		"Redis fails": func(b *bed) func() {
			b.fail.Store(true)
			return func() { b.fail.Store(false) }
		},
		"its answer is lost": func(b *bed) func() {
			b.loses(1)
			return func() {}
		},
	} {
		for came, o := range map[string]fiscope.Outcome{
			"a header":      header(10, in(time.Hour)),
			"no header":     silent,
			"no answer":     {Written: 1},
			"it was unsent": {},
		} {
			t.Run(outage+", "+came, func(t *testing.T) {
				onBed(t, func(b *bed) {
					if came == "a header" {
						o = header(10, in(time.Hour))
					}
					one, other := b.store(), b.store()
					first := b.granted(one)
					end := change(b)
					_ = one.Settle(context.Background(), account, first, o)
					time.Sleep(2 * time.Second)
					end()
					time.Sleep(2 * time.Second)
					r := b.granted(other)
					if came == "a header" {
						b.settle(other, r, silent)
						assert.Equal(t, 9, b.drain(other))
					}
				})
			})
		}
	}
}

// A header that Redis could not be told is not forgotten over questions that it does not answer.
func TestWhatCameOfTheFirstAttemptIsToldThoughOthersAsk(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		first := b.granted(one)
		b.fail.Store(true)
		_ = one.Settle(context.Background(), account, first, header(10, in(time.Hour)))
		require.Equal(t, fiscope.QuotaAway, b.reserve(one, 0).Grant)
		b.fail.Store(false)
		time.Sleep(time.Second)
		assert.Equal(t, 10, b.drain(other))
	})
}

// Who asked, and was to go first, but never heard so, holds nobody.
func TestWhoGoesFirstAndIsNotToldHoldsNobody(t *testing.T) {
	for name, again := range map[string]bool{"it asks again": true, "it asks nothing more": false} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				require.NoError(t, b.client.Ping(context.Background()).Err()) // it is connected
				b.loses(1)
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				if again {
					ctx, cancel = context.WithCancel(context.Background())
				}
				defer cancel()
				r, err := one.Reserve(ctx, account, 0)
				if again {
					require.NoError(t, err)
					assert.Equal(t, fiscope.QuotaGranted, r.Grant)
					return
				}
				time.Sleep(2 * time.Second)
				b.granted(other)
			})
		})
	}
}

// The Redis client repeats a call of which the answer was lost.
func TestTheFirstAttemptWhoseQuestionIsRepeated(t *testing.T) {
	onBed(t, func(b *bed) {
		b.repeat.Store(2) // of the first two, EVALSHA misses the script
		b.granted(b.store())
	})
}

// A header that went along with a question that failed goes along with the next.
func TestAHeaderThatWentAlongIsNotLost(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.open(s, 100, in(time.Hour))
		b.settle(s, b.granted(s), header(5, in(time.Hour)))
		b.fail.Store(true)
		require.Equal(t, fiscope.QuotaAway, b.reserve(s, 0).Grant)
		b.fail.Store(false)
		time.Sleep(time.Second)
		b.granted(s)
		assert.Equal(t, 4, b.drain(other))
	})
}

func TestAShareWhoseQuestionIsRepeated(t *testing.T) {
	onBed(t, func(b *bed) {
		b.open(b.store(), 100, in(time.Hour))
		s := b.store(redisstore.WithShare(5))
		b.repeat.Store(1)
		b.granted(s)
		b.fail.Store(true)
		assert.Equal(t, 5, b.drain(s))
	})
}

// Who did not wait for the attempt that failed goes first at once.
func TestWhoComesAfterTheFirstAttemptFailed(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.settle(one, b.granted(one), fiscope.Outcome{Written: 1}) // no answer
		b.granted(other)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant)
	})
}

// The first attempt did not leave: who waited for it goes.
func TestWhoWaitedForOneThatDidNotLeave(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		first := b.granted(one)
		told := b.reserve(other, 0)
		require.Equal(t, fiscope.QuotaWait, told.Grant)
		b.settle(one, first, fiscope.Outcome{})
		time.Sleep(time.Second / 2)
		r, err := other.ReserveAgain(context.Background(), account, 0, told)
		require.NoError(t, err)
		assert.Equal(t, fiscope.QuotaGranted, r.Grant)
	})
}

// What is to be taken off, and Redis could not be told, is taken off once it answers.
func TestWhatIsTakenOffIsNotLost(t *testing.T) {
	for outage, change := range map[string]func(b *bed) (end func()){
		"Redis fails": func(b *bed) func() {
			b.fail.Store(true)
			return func() { b.fail.Store(false) }
		},
		"Redis is slow": func(b *bed) func() {
			b.hang.Store(int64(2 * time.Second))
			return func() { b.hang.Store(0) }
		},
	} {
		t.Run(outage+", net/http repeated an attempt", func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				b.open(s, 10, in(time.Hour))
				repeated := b.granted(s)
				end := change(b)
				_ = s.Settle(context.Background(), account, repeated, fiscope.Outcome{Written: 3, StatusCode: 200})
				time.Sleep(5 * time.Second)
				end()
				assert.LessOrEqual(t, b.drain(s), 10-3)
			})
		})
		t.Run(outage+", and had forgotten the day", func(t *testing.T) {
			onBed(t, func(b *bed) {
				s, other := b.store(), b.store()
				reset := in(time.Hour)
				b.open(s, 100, reset)
				for range 10 {
					b.granted(s) // under way
				}
				b.mini.FlushAll()
				time.Sleep(time.Second)
				first := b.granted(s)
				time.Sleep(time.Second)
				end := change(b)
				ctx, cancel := context.WithTimeout(context.Background(), time.Second) // as a Client has
				defer cancel()
				_ = s.Settle(ctx, account, first, header(99, reset))
				time.Sleep(5 * time.Second)
				end()
				time.Sleep(time.Second)
				b.granted(s)
				assert.LessOrEqual(t, b.drain(other)+b.drain(s), 99-10-1)
			})
		})
	}
}
