package dayquota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/dayquota"
)

// refusals are the 429s of a client that say nothing.
type refusals struct {
	t *testing.T
	dayquota.Slowdown
	now time.Time
}

// asks makes an attempt, which is answered with such a 429, after d.
func (r *refusals) asks(d time.Duration) (pause time.Duration) {
	r.t.Helper()
	r.now = r.now.Add(d)
	return r.End(r.now, r.begins(), true)
}

// begins begins an attempt, which must be permitted.
func (r *refusals) begins() (number int) {
	r.t.Helper()
	number, _, next := r.Begin(r.now)
	assert.Zero(r.t, next, "refused at %s", r.now)
	return number
}

// refused checks until when no attempt may be sent, after d.
func (r *refusals) refused(d time.Duration, last, until time.Time) {
	r.t.Helper()
	r.now = r.now.Add(d)
	_, at, next := r.Begin(r.now)
	assert.Equal(r.t, last, at)
	assert.Equal(r.t, until, next)
}

func TestThePauseDoublesUntilAnotherAnswer(t *testing.T) {
	r := refusals{t: t, now: noon}
	for range 2 {
		for _, seconds := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			assert.Equal(t, seconds*time.Second, r.asks(0))
		}
		assert.Zero(t, r.End(r.now, r.begins(), false))
	}
}

func TestSimultaneousRefusalsDoubleThePauseOnce(t *testing.T) {
	r := refusals{t: t, now: noon}
	together := func() (pauses []time.Duration) {
		first, second, third := r.begins(), r.begins(), r.begins()
		for _, number := range []int{second, third, first} {
			pauses = append(pauses, r.End(r.now, number, true)/time.Second)
		}
		return pauses
	}
	assert.Equal(t, []time.Duration{1, 1, 1}, together())
	assert.Equal(t, []time.Duration{2, 2, 2}, together())
	late := r.begins()
	r.asks(0)
	r.End(r.now, r.begins(), false)
	assert.Equal(t, time.Second, r.End(r.now, late, true), "the row began anew")
}

func TestARowThatLastsRefuses(t *testing.T) {
	minute := time.Minute
	for name, row := range map[string][]time.Duration{
		"three":              {0, minute, 4 * minute},
		"the first two soon": {0, 0, 5 * minute},
		"many":               {0, minute, minute, minute, minute, minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := refusals{t: t, now: noon}
			for _, d := range row {
				r.asks(d)
			}
			last := r.now
			assert.Equal(t, noon.Add(5*minute), last)
			r.refused(0, last, last.Add(15*minute))
			r.refused(15*minute-1, last, last.Add(15*minute))
			r.asks(1)
			probe := r.now
			r.refused(minute, probe, probe.Add(15*minute))
			r.now = r.now.Add(14 * minute)
			r.begins()
			r.refused(0, probe, r.now.Add(15*minute))
			r.Return()
			r.End(r.now, r.begins(), false) // the probe was not sent: another may be
			for range 9 {
				r.asks(0)
			}
		})
	}
}

func TestARowThatIsTooShortRefusesNothing(t *testing.T) {
	for name, row := range map[string][]time.Duration{
		"two":                 {0, time.Hour},
		"less than 5 minutes": {0, 0, 0, 0, 5*time.Minute - 1},
	} {
		r := refusals{t: t, now: noon}
		for _, d := range row {
			r.asks(d)
		}
		_, _, next := r.Begin(r.now)
		assert.Zero(t, next, name)
	}
	r := refusals{t: t, now: noon}
	r.asks(0)
	r.asks(time.Hour)
	r.End(r.now, r.begins(), false)
	r.asks(0)
	r.asks(0)
	r.asks(0)
	r.begins() // the row was broken
	r.asks(5 * time.Minute)
	r.asks(-24 * time.Hour) // the clock was set back
}
