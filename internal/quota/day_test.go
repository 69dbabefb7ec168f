package quota_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/quota"
)

// calendar is a clock that stands still until it is moved. It begins years after the bubbles of synctest.
type calendar struct{ at time.Time }

func newCalendar() *calendar { return &calendar{time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)} }

func (c *calendar) now() time.Time { return c.at }

// says is an answer whose headers tell what is left until the calendar's midnight.
func (c *calendar) says(left int) quota.Outcome {
	midnight := c.at.Truncate(24 * time.Hour).Add(24 * time.Hour)
	return quota.Outcome{Written: 1, Answer: quota.Served, Headers: &quota.Headers{Remaining: left, Reset: midnight}}
}

func TestADayEndsByTheGatesClock(t *testing.T) {
	for name, test := range map[string]struct {
		moved  time.Duration
		passes bool
	}{
		"not moved":                       {0, false},
		"a moment before midnight":        {12*time.Hour - 1, false},
		"midnight":                        {12 * time.Hour, true},
		"days later":                      {72 * time.Hour, true},
		"a little back":                   {-time.Hour, false},
		"back to before anything is told": {-time.Hour - 1, true},
		"a day back":                      {-24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCalendar()
				g := &quota.Gate{Now: c.now}
				pass(t, g, c.says(0))
				time.Sleep(15*time.Minute - 1) // real time ends no day
				assert.Equal(t, c.says(0).Headers.Reset, refuses(t, g, 0).Until)
				c.at = c.at.Add(test.moved)
				if !test.passes {
					refuses(t, g, 0)
					return
				}
				ticket := enter(t, g)
				assert.Equal(t, test.moved > 0, ticket.Look, "one goes first where the day should be new")
				g.Leave(ticket, c.says(9))
				pass(t, g, c.says(8))
			})
		})
	}
}

func TestManyDaysPassAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalendar()
		g := &quota.Gate{Now: c.now}
		for range 10 {
			pass(t, g, c.says(0))
			refuses(t, g, 0)
			c.at = c.at.Add(24 * time.Hour)
		}
	})
}

func TestLooksAndWaitsAreInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalendar()
		g := &quota.Gate{Now: c.now}
		pass(t, g, c.says(0))
		for _, pause := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, time.Hour} {
			time.Sleep(pause - 1)
			refuses(t, g, 0)
			time.Sleep(time.Nanosecond)
			ticket := enter(t, g)
			assert.True(t, ticket.Look)
			g.Leave(ticket, c.says(0))
		}
		c.at = c.at.Add(12 * time.Hour)
		pass(t, g, refused) // the service is behind
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			spent := refuses(t, g, 0)
			assert.True(t, spent.Overdue)
			assert.Equal(t, c.at.Add(pause), spent.Until, "by the clock of the days, although it stands still")
			time.Sleep(pause)
			pass(t, g, refused)
		}
		time.Sleep(8 * time.Second)
		looks := enter(t, g)
		entered := make(chan time.Time)
		go func() { // who waits for the one that looks, while the clock stands still
			ticket, err := g.Enter(t.Context(), 0)
			assert.NoError(t, err)
			entered <- time.Now()
			g.Leave(ticket, served)
		}()
		synctest.Wait()
		time.Sleep(time.Minute)
		now := time.Now()
		g.Leave(looks, unsent)
		assert.Equal(t, now, <-entered)
	})
}

// A clock that goes through the days forth and back lets whatever the service answers pass, and nothing hangs.
func TestAGateWhoseClockJumpsDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalendar()
		g := &quota.Gate{Now: c.now}
		for i, jump := range []time.Duration{24, -24, 48, -24, -48, 24, 1, -1, 13, -13, 8760, -8760} {
			ticket, err := g.Enter(t.Context(), 0)
			if err == nil {
				g.Leave(ticket, []quota.Outcome{c.says(0), c.says(3), refused, failed, answered}[i%5])
			} else {
				var spent *quota.Spent
				require.ErrorAs(t, err, &spent)
				assert.True(t, spent.Until.After(c.at))
			}
			c.at = c.at.Add(jump * time.Hour)
		}
	})
}
