package solguard

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

func enter(t *testing.T, g *Guard, c Credential) *Turn {
	t.Helper()
	turn, err := g.Enter(t.Context(), c, time.Second)
	require.NoError(t, err)
	return &turn
}

func blocked(t *testing.T, g *Guard, c Credential) *Refused {
	t.Helper()
	_, err := g.Enter(t.Context(), c, time.Second)
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	return refused
}

func TestWhoGoesAlone(t *testing.T) {
	prove := func(t *testing.T, g *Guard, c Credential) { enter(t, g, c).Leave(Proven) }
	for name, test := range map[string]struct {
		before func(*testing.T, *Guard, Credential)
		alone  bool
	}{
		"nothing is known":     {func(*testing.T, *Guard, Credential) {}, true},
		"accepted":             {prove, false},
		"accepted minutes ago": {func(t *testing.T, g *Guard, c Credential) { prove(t, g, c); time.Sleep(Recent - 1) }, false},
		"accepted hours ago":   {func(t *testing.T, g *Guard, c Credential) { prove(t, g, c); time.Sleep(Recent) }, true},
		"accepted again": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			time.Sleep(Recent - 1)
			prove(t, g, c)
			time.Sleep(Recent - 1)
		}, false},
		"no verdict":           {func(t *testing.T, g *Guard, c Credential) { enter(t, g, c).Leave(Unproven) }, true},
		"accepted, no verdict": {func(t *testing.T, g *Guard, c Credential) { prove(t, g, c); enter(t, g, c).Leave(Unproven) }, false},
		"accepted, no answer":  {func(t *testing.T, g *Guard, c Credential) { prove(t, g, c); enter(t, g, c).Leave(Unanswered) }, true},
		"accepted after that": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			enter(t, g, c).Leave(Unanswered)
			prove(t, g, c)
		}, false},
		"accepted elsewhere": {func(t *testing.T, g *Guard, c Credential) {
			turn := enter(t, g, c)
			turn.Accepted(time.Now())
			turn.Leave(Unproven)
		}, false},
		"refused and forgotten": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			enter(t, g, c).Leave(Rejected)
			g.Forget(c)
		}, true},
		"in doubt and forgotten": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			enter(t, g, c).Leave(Doubtful)
			g.Forget(c)
		}, true},
		"in doubt, and time over": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			enter(t, g, c).Leave(Doubtful)
			time.Sleep(inDoubt)
		}, true},
		"refused, and time over": {func(t *testing.T, g *Guard, c Credential) {
			prove(t, g, c)
			enter(t, g, c).Leave(Rejected)
			time.Sleep(day)
		}, true},
		"forgotten, not refused": {func(t *testing.T, g *Guard, c Credential) { prove(t, g, c); g.Forget(c) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(day, nil)
				c := g.Credential("20131312955", "MIUSER01", "clave")
				test.before(t, g, c)
				turn := enter(t, g, c)
				assert.Equal(t, test.alone, turn.Alone())
				turn.Leave(Unproven)
			})
		})
	}
}

func TestAnAcceptanceElsewhereThatIsOlderSaysNothing(t *testing.T) {
	for name, learn := range map[string]func(*testing.T, *Guard, Credential){
		"than one that was not answered": func(t *testing.T, g *Guard, c Credential) { enter(t, g, c).Leave(Unanswered) },
		"than a refusal that was forgotten": func(t *testing.T, g *Guard, c Credential) {
			enter(t, g, c).Leave(Rejected)
			g.Forget(c)
		},
		"than a refusal in doubt": func(t *testing.T, g *Guard, c Credential) {
			enter(t, g, c).Leave(Doubtful)
			time.Sleep(inDoubt)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(day, nil)
				c := g.Credential("20131312955", "U", "k")
				enter(t, g, c).Leave(Proven)
				older := time.Now()
				time.Sleep(time.Second)
				learn(t, g, c)
				turn := enter(t, g, c)
				turn.Accepted(older)
				assert.True(t, turn.Alone())
				time.Sleep(time.Second)
				turn.Accepted(time.Now())
				assert.False(t, turn.Alone(), "a newer one does")
				turn.Leave(Unproven)
			})
		})
	}
}

func TestWhatIsOneUserAndOneCredential(t *testing.T) {
	g := New(day, nil)
	c := g.Credential("20131312955", "MIUSER01", "clave")
	assert.Equal(t, c, g.Credential("20131312955", "miUser01", "clave"))
	same := map[string]bool{"another clave": true, "under another process": true}
	for name, other := range map[string]Credential{
		"another clave":         g.Credential("20131312955", "MIUSER01", "Clave"),
		"another user":          g.Credential("20131312955", "MIUSER02", "clave"),
		"another RUC":           g.Credential("20100047218", "MIUSER01", "clave"),
		"shifted":               g.Credential("20131312955", "MIUSER01C", "lave"),
		"under another process": New(day, nil).Credential("20131312955", "MIUSER01", "clave"),
	} {
		assert.NotEqual(t, c.id, other.id, name)
		assert.Equal(t, same[name], c.user == other.user, name)
	}
}

func TestOneClaveOfAUserAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(day, nil)
		one, other := g.Credential("r", "u", "1"), g.Credential("r", "u", "2")
		first := enter(t, g, one)
		_, err := g.Enter(t.Context(), other, time.Second)
		require.ErrorIs(t, err, ErrImpatient)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = g.Enter(ctx, other, time.Second)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		enter(t, g, g.Credential("r", "another", "2")).Leave(Unproven)

		first.Leave(Proven)
		second := enter(t, g, other)
		assert.True(t, second.Alone())
		beside := enter(t, g, one)
		assert.False(t, beside.Alone(), "a proven one waits for nobody")
		beside.Leave(Proven)
		second.Leave(Unproven)
	})
}

func TestARefusalStopsThoseWhoWereLetIn(t *testing.T) {
	g := New(day, nil)
	c := g.Credential("r", "u", "c")
	enter(t, g, c).Leave(Proven)
	one, other := enter(t, g, c), enter(t, g, c)
	require.NoError(t, other.Refused())
	assert.Equal(t, day, one.Leave(Rejected))
	require.Error(t, other.Refused())
	g.Forget(c)
	require.Error(t, other.Refused(), "it would go beside others that Forget let in")
	other.Leave(Proven)
	turn := enter(t, g, c)
	assert.True(t, turn.Alone(), "what began before the refusal proves nothing")
	require.NoError(t, turn.Refused())
	turn.Leave(Unproven)
}

func TestHowLongARefusalBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(day, nil)
		c := g.Credential("r", "u", "c")
		assert.Equal(t, day, enter(t, g, c).Leave(Doubtful), "of one that was never accepted")
		assert.ErrorContains(t, blocked(t, g, c), "did not say what it refuses")
		g.Forget(c)
		enter(t, g, c).Leave(Proven)

		many := []*Turn{enter(t, g, c), enter(t, g, c), enter(t, g, c)}
		for _, turn := range many {
			assert.Equal(t, inDoubt, turn.Leave(Doubtful), "together they are one")
		}
		want := inDoubt
		for range 8 {
			refused := blocked(t, g, c)
			assert.Equal(t, time.Now().Add(want), refused.Until)
			assert.ErrorContains(t, refused, "accepted at")
			time.Sleep(want)
			want = min(2*want, day)
			turn := enter(t, g, c)
			if time.Since(refused.Accepted) >= day {
				want = day // long ago: as good as never
			}
			assert.Equal(t, want, turn.Leave(Doubtful))
		}
		g.Forget(c)
		enter(t, g, c).Leave(Proven)
		one, other := enter(t, g, c), enter(t, g, c)
		assert.Equal(t, day, one.Leave(Rejected))
		other.Leave(Doubtful)
		assert.Equal(t, time.Now().Add(day), blocked(t, g, c).Until, "a doubt does not shorten it")
	})
	g := New(time.Minute, nil)
	c := g.Credential("r", "u", "c")
	enter(t, g, c).Leave(Proven)
	assert.Equal(t, time.Minute, enter(t, g, c).Leave(Doubtful), "no longer than anything is remembered")
}

func TestARefusalElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(day, nil)
		c := g.Credential("r", "u", "c")
		turn := enter(t, g, c)
		turn.Block(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		require.ErrorContains(t, turn.Refused(), "another process was refused")
		turn.Leave(Unproven)
		blocked(t, g, c)
		time.Sleep(time.Hour)
		enter(t, g, c).Leave(Unproven)
	})
}

func TestThoseWhoWaitAreLetInTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(day, nil)
		c := g.Credential("r", "u", "c")
		first := enter(t, g, c)
		start := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				turn, err := g.Enter(t.Context(), c, time.Minute)
				if assert.NoError(t, err) {
					assert.False(t, turn.Alone())
					time.Sleep(time.Second)
					turn.Leave(Proven)
				}
			})
		}
		time.Sleep(time.Second)
		first.Leave(Proven)
		wg.Wait()
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	g := New(day, nil)
	refused, accepted, held := g.Credential("r", "u", "refused"), g.Credential("r", "v", "accepted"), g.Credential("r", "w", "held")
	enter(t, g, refused).Leave(Rejected)
	enter(t, g, accepted).Leave(Proven)
	turn := enter(t, g, held)
	for i := range mostAccepted {
		enter(t, g, g.Credential("r", fmt.Sprint(i), "c")).Leave(Proven)
		enter(t, g, g.Credential("r", fmt.Sprint(i), "unknown")).Leave(Unproven)
	}
	blocked(t, g, refused)
	assert.Equal(t, mostAccepted, g.known.accepted.Len())
	assert.Len(t, g.known.held, 1, "what nobody sends and of which nothing is known takes no memory")
	late := enter(t, g, accepted)
	assert.True(t, late.Alone(), "the oldest of the accepted ones went")
	late.Leave(Unproven)
	_, err := g.Enter(t.Context(), held, 0)
	require.ErrorIs(t, err, ErrImpatient)
	turn.Leave(Rejected)
	blocked(t, g, held)
	now := time.Now()
	for i := range mostRefused - 2 {
		clave, s := id{0: byte(i), 1: byte(i >> 8), 2: byte(i >> 16)}, &state{until: now.Add(day)}
		g.known.hold(clave, s, false)
		g.known.release(clave, s, now, day)
	}
	blocked(t, g, refused)
	enter(t, g, g.Credential("r", "one more", "wrong")).Leave(Rejected)
	assert.Equal(t, mostRefused, g.known.refused.Len())
	assert.Empty(t, g.trying)
}

func TestWhatIsKnownOfACredentialThatIsBeingSentIsKept(t *testing.T) {
	g := New(day, nil)
	pushOut := func() {
		for i := range mostAccepted {
			enter(t, g, g.Credential("r", fmt.Sprint(i), "c")).Leave(Proven)
		}
	}
	c := g.Credential("r", "MIUSER01", "clave")
	enter(t, g, c).Leave(Proven)
	first := enter(t, g, c)
	pushOut()
	second := enter(t, g, c)
	assert.False(t, second.Alone(), "it was accepted, and more were since than are remembered")
	first.Leave(Rejected)
	require.Error(t, second.Refused(), "both have the same knowledge")
	second.Leave(Unproven)
	pushOut()
	blocked(t, g, c)
	assert.Empty(t, g.known.held)
}

func TestRefusalsWhoseTimeIsOverTakeNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(day, nil)
		for i := range 1000 {
			enter(t, g, g.Credential("r", fmt.Sprint(i), "wrong")).Leave(Rejected)
		}
		time.Sleep(day)
		enter(t, g, g.Credential("r", "another", "wrong")).Leave(Rejected)
		assert.Equal(t, 1, g.known.refused.Len())
	})
}
