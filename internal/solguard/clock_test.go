package solguard

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsRememberedIsSoByTheGuardsClock(t *testing.T) {
	for name, test := range map[string]struct {
		verdicts []Verdict
		moved    time.Duration
		blocked  bool
		alone    bool
	}{
		"refused":                          {[]Verdict{Rejected}, 0, true, true},
		"refused, at the end":              {[]Verdict{Rejected}, day - 1, true, true},
		"refused, over":                    {[]Verdict{Rejected}, day, false, true},
		"refused, set back":                {[]Verdict{Rejected}, -day, true, true},
		"refused in doubt":                 {[]Verdict{Proven, Doubtful}, inDoubt - 1, true, true},
		"refused in doubt, over":           {[]Verdict{Proven, Doubtful}, inDoubt, false, true},
		"accepted":                         {[]Verdict{Proven}, Recent - 1, false, false},
		"accepted a while ago":             {[]Verdict{Proven}, Recent, false, true},
		"accepted, a little ahead":         {[]Verdict{Proven}, 1 - Recent, false, false},
		"accepted, set back":               {[]Verdict{Proven}, -Recent, false, true},
		"accepted and no answer, set back": {[]Verdict{Proven, Unanswered}, -day, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
				g := New(day, func() time.Time { return at })
				c := g.Credential("20131312955", "MIUSER01", "clave")
				for _, v := range test.verdicts {
					enter(t, g, c).Leave(v)
				}
				time.Sleep(100 * day) // real time forgets nothing
				at = at.Add(test.moved)
				if test.blocked {
					assert.True(t, blocked(t, g, c).Until.After(at))
					return
				}
				turn := enter(t, g, c)
				assert.Equal(t, test.alone, turn.Alone())
				turn.Leave(Unproven)
			})
		})
	}
}

// What others were told is of the guard's clock too.
func TestWhatOthersWereToldIsByTheGuardsClock(t *testing.T) {
	for name, test := range map[string]struct {
		ago   time.Duration
		alone bool
	}{"just now": {0, false}, "minutes ago": {Recent - 1, false}, "a while ago": {Recent, true}} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
			g := New(day, func() time.Time { return at })
			turn := enter(t, g, g.Credential("20131312955", "MIUSER01", "clave"))
			turn.Accepted(at.Add(-test.ago))
			assert.Equal(t, test.alone, turn.Alone())
			turn.Leave(Unproven)
		})
	}
}

func TestWhoWaitsWaitsInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
		g := New(day, func() time.Time { return at })
		c := g.Credential("20131312955", "MIUSER01", "clave")
		turn := enter(t, g, c)
		start := time.Now()
		_, err := g.Enter(t.Context(), c, time.Minute)
		assert.ErrorIs(t, err, ErrImpatient)
		assert.Equal(t, time.Minute, time.Since(start))
		turn.Leave(Proven)
	})
}

// A clock of before the year 1 blocks nobody.
func TestAClockOfNonsenseBlocksNobody(t *testing.T) {
	for name, at := range map[string]time.Time{"zero": {}, "the first": time.Unix(-1<<62, 0), "the last": time.Unix(1<<62, 0)} {
		t.Run(name, func(t *testing.T) {
			g := New(day, func() time.Time { return at })
			c := g.Credential("20131312955", "MIUSER01", "clave")
			enter(t, g, c).Leave(Unproven)
			enter(t, g, c).Leave(Proven)
			enter(t, g, c).Leave(Unproven)
		})
	}
}
