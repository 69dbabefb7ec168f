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

// spentBut uses up a day of 100 but for the shares of some processes.
func spentBut(b *bed, shares int) (holding []*redisstore.Store, other *redisstore.Store) {
	b.t.Helper()
	holding, other = sharing(b, shares), b.store()
	require.Equal(b.t, 100-shares*(1+5), b.drain(other))
	return holding, other
}

// What one that goes to see is told leaves the shares to those who hold them.
func TestALookLeavesOutTheSharesOfOthers(t *testing.T) {
	onBed(t, func(b *bed) {
		holding, other := spentBut(b, 4)
		time.Sleep(16 * time.Minute)
		reset := in(time.Hour)
		b.settle(other, b.granted(other), header(4*5-1, reset)) // of the 20 in shares it used one
		time.Sleep(2 * time.Second)
		assert.Zero(t, b.drain(other))
		time.Sleep(16 * time.Minute)
		b.settle(other, b.granted(other), header(1000, reset)) // raised
		assert.Equal(t, 1000-4*5, b.drain(other))
		for _, s := range holding {
			assert.Equal(t, 5, b.drain(s))
		}
	})
}

// A share that is used up is held no longer.
func TestALookCountsNoShareThatIsUsedUp(t *testing.T) {
	onBed(t, func(b *bed) {
		holding, other := spentBut(b, 4)
		for _, s := range holding {
			require.Equal(t, 5, b.drain(s))
		}
		time.Sleep(16 * time.Minute)
		b.settle(other, b.granted(other), header(1000, in(time.Hour)))
		b.settle(holding[0], b.granted(holding[0]), silent) // it has no second share
		assert.Equal(t, 999, b.drain(other))
		for _, s := range holding {
			require.NoError(t, s.Release(context.Background()))
		}
		assert.Equal(t, "0", b.left(), "a Release gives nothing back that is used")
	})
}

// One query of a share that is used up was not sent: it is nobody's.
func TestTheLastOfAShareIsGivenBack(t *testing.T) {
	onBed(t, func(b *bed) {
		holding, other := spentBut(b, 1)
		s := holding[0]
		var held []fiscope.Reservation
		for range 5 {
			held = append(held, b.granted(s))
		}
		b.settle(s, held[0], silent)
		b.settle(s, held[1], fiscope.Outcome{})
		assert.Zero(t, b.trips(func() {
			for _, r := range held[2:] {
				b.settle(s, r, silent)
			}
		}), "Redis knows that it is used up")
		time.Sleep(2 * time.Second)
		assert.Equal(t, 1, b.drain(other)+b.drain(s))
	})
}

// A share that was used up while Redis was away.
func TestAShareThatRedisCouldNotBeToldOf(t *testing.T) {
	onBed(t, func(b *bed) {
		s := sharing(b, 1)[0]
		b.fail.Store(true)
		require.Equal(t, 5, b.drain(s))
		b.fail.Store(false)
		time.Sleep(time.Second)
		require.NoError(t, s.Release(context.Background()))
		assert.Equal(t, "0", b.mini.HGet("fiscope:{"+account+"}:quota:3:day", "aside"))
		assert.Equal(t, "94", b.left(), "one was sent, and the share")
	})
}

// What is put back while one goes to see may be under way when its header is counted.
func TestALookThatSomethingWasPutBackDuring(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(s, 10, reset)
		kept := b.granted(s)
		require.Equal(t, 9, b.drain(s))
		time.Sleep(16 * time.Minute)
		look := b.granted(other)
		b.settle(s, kept, fiscope.Outcome{}) // not sent
		b.granted(s)                         // under way
		b.settle(other, look, header(1, reset))
		time.Sleep(2 * time.Second)
		assert.Zero(t, b.drain(s)+b.drain(other))
	})
}

// An attempt that left before ends while one goes to see: that nothing is left is known.
func TestALookThatOthersEndDuring(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(s, 10, reset)
		kept := b.granted(s)
		require.Equal(t, 9, b.drain(other))
		time.Sleep(16 * time.Minute)
		look := b.granted(other)
		b.settle(s, kept, header(0, reset))
		b.settle(other, look, header(100, reset)) // raised
		time.Sleep(2 * time.Second)
		assert.Equal(t, 100, b.drain(other))
	})
}

// The next one goes to see 15 minutes after it was spent again.
func TestALookEndsWhenSomeAreLeft(t *testing.T) {
	for name, raise := range map[string]func(b *bed, s *redisstore.Store, look, kept fiscope.Reservation){
		"it was raised": func(b *bed, s *redisstore.Store, look, _ fiscope.Reservation) {
			b.settle(s, look, header(1, in(time.Hour)))
		},
		"one was put back": func(b *bed, s *redisstore.Store, look, kept fiscope.Reservation) {
			b.settle(s, look, header(0, in(time.Hour)))
			b.settle(s, kept, fiscope.Outcome{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				b.open(s, 10, in(time.Hour))
				kept := b.granted(s)
				require.Equal(t, 9, b.drain(s))
				time.Sleep(16 * time.Minute)
				raise(b, s, b.granted(s), kept)
				time.Sleep(16 * time.Minute)
				assert.Equal(t, 1, b.drain(s))
				time.Sleep(14 * time.Minute)
				assert.Zero(t, b.drain(s))
				time.Sleep(2 * time.Minute)
				b.granted(s)
			})
		})
	}
}
