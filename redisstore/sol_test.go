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

const credential = "ffeeddccbbaa99887766554433221100"

func (b *bed) claim(s *redisstore.Store) fiscope.Claim {
	b.t.Helper()
	c, err := s.Claim(context.Background(), credential, 10*time.Second)
	require.NoError(b.t, err)
	return c
}

func (b *bed) conclude(s *redisstore.Store, c fiscope.Claim, v fiscope.Verdict) {
	b.t.Helper()
	require.NoError(b.t, s.Conclude(context.Background(), credential, c, v, time.Hour))
}

func TestOneTriesACredentialWhileTheOthersWait(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		mine := b.claim(one)
		require.Equal(t, fiscope.ClaimGranted, mine.State)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(one).State)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
		b.conclude(other, fiscope.Claim{Token: "another's"}, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State, "only the holder gives a claim up")
		b.conclude(one, mine, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
	})
}

func TestAClaimSurvivesACrashedHolder(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		died := b.claim(one)
		time.Sleep(9 * time.Second)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
		time.Sleep(2 * time.Second)
		assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
		b.conclude(one, died, fiscope.VerdictNone) // it was only slow
		assert.Equal(t, fiscope.ClaimBusy, b.claim(one).State)
	})
}

func TestVerdictsAreRemembered(t *testing.T) {
	for verdict, state := range map[fiscope.Verdict]fiscope.ClaimState{
		fiscope.VerdictProven: fiscope.ClaimProven, fiscope.VerdictRefused: fiscope.ClaimRefused,
	} {
		onBed(t, func(b *bed) {
			one, other := b.store(), b.store()
			now := time.Now()
			b.conclude(one, b.claim(one), verdict)
			time.Sleep(59 * time.Minute)
			c := b.claim(other)
			assert.Equal(t, state, c.State)
			assert.Equal(t, now.UTC(), c.Since)
			if state == fiscope.ClaimRefused {
				assert.WithinDuration(t, now.Add(time.Hour), c.Until, time.Second)
			}
			time.Sleep(2 * time.Minute)
			assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
		})
	}
}

func TestALateProofDoesNotUndoARefusal(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		c := b.claim(s)
		b.conclude(s, c, fiscope.VerdictProven)
		b.conclude(s, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State, "a credential that was proven is refused later")
		b.conclude(s, c, fiscope.VerdictProven)
		b.conclude(s, c, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State)
		require.NoError(t, s.Forget(context.Background(), credential))
		assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
	})
}

func TestARefusalWithoutRedisIsToldLater(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		c := b.claim(one)
		b.fail.Store(true)
		require.Error(t, one.Conclude(context.Background(), credential, c, fiscope.VerdictRefused, time.Hour))
		time.Sleep(20 * time.Second)
		b.fail.Store(false)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(one).State)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(other).State)
	})
}
