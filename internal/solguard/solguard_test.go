package solguard_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/solguard"
	"github.com/fiscope/fiscope/store"
)

// tried is one credential of a guard.
type tried struct {
	*testing.T
	guard *solguard.Guard
	name  solguard.Credential
}

func newTried(t *testing.T) *tried {
	g := solguard.New(nil)
	return &tried{t, g, g.Credential("20131312955", "MIUSER01", "clave")}
}

// permit is one that is to be had at once.
func (c *tried) permit() *solguard.Permit {
	c.Helper()
	p, err := c.guard.Acquire(c.Context(), c.name, 0)
	require.NoError(c, err)
	return p
}

func (c *tried) refused() *solguard.Refused {
	c.Helper()
	var r *solguard.Refused
	_, err := c.guard.Acquire(c.Context(), c.name, 0)
	require.ErrorAs(c, err, &r)
	return r
}

func (c *tried) busy() {
	c.Helper()
	_, err := c.guard.Acquire(c.Context(), c.name, 0)
	require.ErrorIs(c, err, solguard.ErrBusy)
}

func ago(d time.Duration) time.Time { return time.Now().Add(-d) }

func inBubble(t *testing.T, name string, test func(*tried)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(newTried(t)) })
	})
}

func TestWhoGoesAlone(t *testing.T) {
	inBubble(t, "unknown", func(c *tried) {
		p := c.permit()
		assert.True(c, p.Alone)
		c.busy()
		other := tried{c.T, c.guard, c.guard.Credential("20131312955", "miuser01", "otra")}
		other.busy()
		user := tried{c.T, c.guard, c.guard.Credential("20131312955", "MIUSER02", "clave")}
		user.permit().Release(solguard.Nothing, 0)
		p.Release(solguard.Nothing, 0)
		other.permit()
	})
	inBubble(t, "proven, for 15 minutes", func(c *tried) {
		assert.Equal(c, solguard.Memory, c.permit().Release(solguard.Proven, 0))
		for range 3 {
			assert.False(c, c.permit().Alone)
		}
		for usuario, clave := range map[string]string{"MIUSER0": "1clave", "MIUSER01": "clavE"} {
			other := tried{c.T, c.guard, c.guard.Credential("20131312955", usuario, clave)}
			p := other.permit()
			assert.True(c, p.Alone)
			p.Release(solguard.Nothing, 0)
		}
		time.Sleep(store.Recent - 1)
		assert.False(c, c.permit().Alone)
		time.Sleep(time.Nanosecond)
		assert.True(c, c.permit().Alone)
	})
	inBubble(t, "proven, and answered for a day", func(c *tried) {
		assert.Zero(c, c.permit().Release(solguard.Answered, 0), "before it is proven, it says nothing")
		c.permit().Release(solguard.Proven, 0)
		left := solguard.Memory
		for left > store.Recent { // each answer renews
			time.Sleep(store.Recent - 1)
			left -= store.Recent - 1
			p := c.permit()
			assert.False(c, p.Alone)
			assert.Equal(c, left, p.Release(solguard.Answered, 0))
		}
		time.Sleep(left)
		p := c.permit()
		assert.True(c, p.Alone)
		assert.Zero(c, p.Release(solguard.Answered, 0))
	})
	inBubble(t, "proven, and a caller left", func(c *tried) {
		c.permit().Release(solguard.Proven, 0)
		time.Sleep(time.Second)
		cut, other := c.permit(), c.permit()
		cut.Release(solguard.Cut, 0)
		for range 2 {
			one, next := c.permit(), c.permit()
			assert.True(c, one.Background)
			assert.False(c, one.Alone, "nobody waits")
			assert.False(c, next.Background)
			next.Release(solguard.Nothing, 0)
			assert.False(c, c.permit().Background, "one at a time")
			one.Release(solguard.Nothing, 0)
		}
		time.Sleep(time.Second)
		other.Release(solguard.Proven, 0)
		assert.False(c, c.permit().Background, "another was accepted since")
	})
	inBubble(t, "proven elsewhere", func(c *tried) {
		p := c.permit()
		p.Accepted(ago(time.Hour), ago(time.Minute))
		assert.False(c, p.Alone)
		assert.False(c, c.permit().Alone)
		p.Release(solguard.Nothing, 0)
	})
	inBubble(t, "proven elsewhere too long ago", func(c *tried) {
		p := c.permit()
		p.Accepted(ago(time.Hour), ago(store.Recent))
		assert.True(c, p.Alone)
		assert.True(c, p.Proven())
		p.Accepted(ago(solguard.Memory), ago(time.Minute))
		assert.False(c, p.Alone, "an older one takes nothing away")
	})
}

func TestARefusal(t *testing.T) {
	inBubble(t, "blocks for a day", func(c *tried) {
		assert.Equal(c, solguard.Memory, c.permit().Release(solguard.Rejected, 0))
		time.Sleep(solguard.Memory - 1)
		assert.True(c, c.refused().Private)
		time.Sleep(time.Nanosecond)
		assert.True(c, c.permit().Alone)
	})
	inBubble(t, "ends what was let in before, until it is forgotten", func(c *tried) {
		c.permit().Release(solguard.Proven, 0)
		before, late := c.permit(), c.permit()
		require.NoError(c, before.Refused())
		c.permit().Release(solguard.Rejected, 0)
		require.Error(c, before.Refused())
		late.Release(solguard.Proven, 0) // which began before it
		c.refused()
		c.guard.Forget(c.name)
		require.NoError(c, before.Refused())
	})
	inBubble(t, "elsewhere counts here", func(c *tried) {
		c.permit().Release(solguard.Proven, 0)
		p := c.permit()
		p.Block(time.Now(), time.Now().Add(solguard.Memory))
		require.Error(c, p.Refused())
		p.Release(solguard.Nothing, 0)
		assert.True(c, c.refused().Elsewhere && c.refused().Unexplained)
	})
	inBubble(t, "undoes an older acceptance elsewhere", func(c *tried) {
		c.permit().Release(solguard.Rejected, 0)
		time.Sleep(solguard.Memory)
		p := c.permit()
		p.Accepted(ago(solguard.Memory+time.Hour), ago(time.Minute))
		assert.True(c, p.Alone)
	})
	inBubble(t, "that was forgotten undoes an older acceptance elsewhere, and not a newer", func(c *tried) {
		c.permit().Release(solguard.Rejected, 0)
		c.guard.Forget(c.name)
		p := c.permit()
		p.Accepted(ago(time.Minute), time.Now())
		assert.True(c, p.Alone)
		time.Sleep(time.Minute)
		p.Accepted(time.Now(), time.Now())
		assert.False(c, p.Alone)
	})
	inBubble(t, "is forgotten", func(c *tried) {
		c.permit().Release(solguard.Rejected, 0)
		c.guard.SetPrivate(c.name, false)
		assert.False(c, c.refused().Private)
		c.guard.Forget(c.name)
		c.permit().Release(solguard.Proven, 0)
		c.guard.Forget(c.name)
		assert.False(c, c.permit().Alone, "which takes nothing from a proof")
	})
}

func TestADoubt(t *testing.T) {
	inBubble(t, "doubles from 5 minutes to a day", func(c *tried) {
		for _, blocked := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440} {
			assert.Equal(c, blocked*time.Minute, c.permit().Release(solguard.Doubtful, 0))
			assert.True(c, c.refused().Unexplained)
			time.Sleep(blocked * time.Minute)
		}
		c.permit().Release(solguard.Proven, 0)
		assert.Equal(c, 5*time.Minute, c.permit().Release(solguard.Doubtful, 0), "an acceptance ends it")
	})
	inBubble(t, "of many together is one", func(c *tried) {
		c.permit().Release(solguard.Proven, 0)
		together := []*solguard.Permit{c.permit(), c.permit(), c.permit()}
		for _, p := range together {
			assert.Equal(c, 5*time.Minute, p.Release(solguard.Doubtful, 0))
		}
		time.Sleep(5 * time.Minute)
		assert.True(c, c.permit().Alone, "one goes first, though it was proven")
	})
	inBubble(t, "shortens no block", func(c *tried) {
		c.permit().Release(solguard.Proven, 0)
		late := c.permit()
		c.permit().Release(solguard.Rejected, 0)
		late.Release(solguard.Doubtful, 0)
		assert.False(c, c.refused().Unexplained)
	})
	inBubble(t, "does not count while the key is refused", func(c *tried) {
		c.permit().Release(solguard.Doubtful, 0)
		c.guard.KeyRefused.Store(true)
		assert.Zero(c, c.permit().Release(solguard.Doubtful, 0))
		c.guard.KeyRefused.Store(false)
		c.refused()
	})
}

func TestAWait(t *testing.T) {
	inBubble(t, "ends with the other's answer", func(c *tried) {
		first := c.permit()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				p, err := c.guard.Acquire(c.Context(), c.name, time.Minute)
				assert.NoError(c, err)
				assert.False(c, p.Alone)
			})
		}
		time.AfterFunc(time.Second, func() { first.Release(solguard.Proven, 0) })
		wg.Wait()
	})
	inBubble(t, "passes from one to the next", func(c *tried) {
		first := c.permit()
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				p, err := c.guard.Acquire(c.Context(), c.name, time.Minute)
				assert.NoError(c, err)
				time.Sleep(time.Second)
				p.Release(solguard.Nothing, 0)
			})
		}
		first.Release(solguard.Nothing, 0)
		wg.Wait()
		assert.Equal(c, 10*time.Second, time.Since(start))
	})
	inBubble(t, "ends with its patience and its context", func(c *tried) {
		c.permit()
		start := time.Now()
		_, err := c.guard.Acquire(c.Context(), c.name, time.Second)
		require.ErrorIs(c, err, solguard.ErrBusy)
		assert.Equal(c, time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(c.Context(), time.Second/2)
		defer cancel()
		_, err = c.guard.Acquire(ctx, c.name, time.Hour)
		require.ErrorIs(c, err, context.DeadlineExceeded)
	})
}
