package solguard

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// That others were refused speaks against an acceptance here, however recent, also once the refusal is over.
func TestAfterARefusalElsewhereOneGoesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		learn func(*Turn)
		alone bool
	}{
		"nothing since":       {func(*Turn) {}, true},
		"an older acceptance": {func(t *Turn) { t.Accepted(time.Now().Add(-6 * time.Minute)) }, true},
		"a newer acceptance":  {func(t *Turn) { t.Accepted(time.Now().Add(-time.Minute)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(day, nil)
				c := g.Credential("20131312955", "MIUSER01", "clave")
				enter(t, g, c).Leave(Proven)
				turn := enter(t, g, c)
				turn.Block(time.Now(), time.Now().Add(5*time.Minute))
				assert.Error(t, turn.Refused(), "also for one that was let in before")
				turn.Leave(Unproven)
				assert.True(t, blocked(t, g, c).Elsewhere)
				time.Sleep(5 * time.Minute)
				turn = enter(t, g, c)
				test.learn(turn)
				assert.Equal(t, test.alone, turn.Alone())
				turn.Leave(Unproven)
			})
		})
	}
}
