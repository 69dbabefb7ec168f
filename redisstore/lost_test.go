package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
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
